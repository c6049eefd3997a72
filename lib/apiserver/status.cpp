#include "apiserver/status.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/status.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

ErrorKind kind_of(int code, const std::string& reason) {
  if (reason == "AlreadyExists") return ErrorKind::already_exists;
  switch (code) {
    case 400:
    case 422: return ErrorKind::invalid;
    case 401: return ErrorKind::unauthorized;
    case 403: return ErrorKind::forbidden;
    case 404: return ErrorKind::not_found;
    case 405:
    case 406:
    case 415: return ErrorKind::unsupported;
    case 409: return ErrorKind::conflict;
    case 410: return ErrorKind::gone;
    case 413: return ErrorKind::too_large;
    case 429: return ErrorKind::rate_limited;
    case 504: return ErrorKind::timeout;
    default: return ErrorKind::internal;
  }
}

Json details_of(const Subject& subject) {
  Json details = Json::object();
  if (!subject.name.empty()) details["name"] = subject.name;
  if (!subject.group.empty()) details["group"] = subject.group;
  if (!subject.kind.empty()) details["kind"] = subject.kind;
  return details;
}

}  // namespace

std::string qualified(const Subject& subject) {
  return subject.group.empty() ? subject.kind : subject.kind + "." + subject.group;
}

Error api_error(int code, const std::string& reason, const std::string& message,
                const std::optional<Json>& details) {
  Json body = core::status_body(code, reason, message);
  base::ApiStatus status{code, reason, message, std::nullopt, ""};
  if (details) {
    body["details"] = *details;
    if (const auto retry = base::int_at(*details, {"retryAfterSeconds"})) {
      status.retry_after_seconds = static_cast<int>(*retry);
    }
  }
  status.body = base::dump_json(body);
  return Error(kind_of(code, reason), message, std::move(status));
}

Error not_found(const Subject& subject) {
  return api_error(
      404, "NotFound",
      fmt::format("{} {} not found", qualified(subject), schema::go_quoted(subject.name)),
      details_of(subject));
}

Error already_exists(const Subject& subject) {
  return api_error(
      409, "AlreadyExists",
      fmt::format("{} {} already exists", qualified(subject), schema::go_quoted(subject.name)),
      details_of(subject));
}

Error conflict(const Subject& subject, const std::string& why) {
  return api_error(409, "Conflict",
                   fmt::format("Operation cannot be fulfilled on {} {}: {}", qualified(subject),
                               schema::go_quoted(subject.name), why),
                   details_of(subject));
}

Error modified(const Subject& subject) {
  return conflict(subject,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Error invalid(const Subject& subject, const FieldErrors& errors) {
  Json details = details_of(subject);
  for (const auto& error : errors) {
    details["causes"].push_back(
        {{"reason", error.reason}, {"message", error.message}, {"field", error.field}});
  }
  return api_error(422, "Invalid",
                   fmt::format("{} {} is invalid: {}", qualified(subject),
                               schema::go_quoted(subject.name), schema::sentences(errors)),
                   details);
}

Error invalid_options(const std::string& kind, const FieldErrors& errors) {
  return invalid({"meta.k8s.io", kind, ""}, errors);
}

Error bad_request(const std::string& message) {
  return api_error(400, "BadRequest", message, std::nullopt);
}

Error unauthorized() {
  return api_error(401, "Unauthorized", "Unauthorized", std::nullopt);
}

namespace {

constexpr std::string_view kUndecodable = " cannot be handled as a ";

}  // namespace

Error undecodable(const core::Gvk& kind, const std::string& why) {
  return bad_request(fmt::format("{} in version \"{}\"{}{}: {}", kind.kind, kind.version,
                                 kUndecodable, kind.kind, why));
}

std::optional<std::string> why_undecodable(const Error& error) {
  const std::string& message = error.message();
  const std::size_t at = message.find(kUndecodable);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t why = message.find(": ", at);
  return why == std::string::npos ? message : message.substr(why + 2);
}

Error wrong_name(const std::string& name, const std::string& on_url) {
  return bad_request(fmt::format(
      "the name of the object ({}) does not match the name on the URL ({})", name, on_url));
}

Error wrong_namespace() {
  return bad_request(
      "the namespace of the provided object does not match the namespace sent on the request");
}

Error forbidden(const Subject& subject, const std::string& why) {
  const std::string name = subject.name.empty() ? "" : fmt::format(" \"{}\"", subject.name);
  return api_error(403, "Forbidden",
                   fmt::format("{}{} is forbidden: {}", qualified(subject), name, why),
                   details_of(subject));
}

Error method_not_allowed() {
  return api_error(405, "MethodNotAllowed",
                   "the server does not allow this method on the requested resource",
                   Json::object());
}

Error no_such_resource() {
  return api_error(404, "NotFound", "the server could not find the requested resource",
                   Json::object());
}

Error not_acceptable(const std::string& message) {
  return api_error(406, "NotAcceptable", message, std::nullopt);
}

Error unsupported_media(const std::string& message) {
  return api_error(415, "UnsupportedMediaType", message, std::nullopt);
}

Error internal_error(const std::string& message) {
  return api_error(500, "", message, std::nullopt);
}

Error request_too_large() {
  return internal_error("etcdserver: request is too large");
}

Error expired(const std::string& message) {
  return api_error(410, "Expired", message, std::nullopt);
}

Error version_too_large(std::uint64_t wanted, std::uint64_t current) {
  const Json cause = {{"reason", "ResourceVersionTooLarge"},
                      {"message", "Too large resource version"}};
  return api_error(
      504, "Timeout",
      fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current),
      Json{{"causes", Json::array({cause})}, {"retryAfterSeconds", 1}});
}

Json success_status() {
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Success"}};
}

Json status_json(const Error& error) {
  if (error.status() != nullptr) {
    if (auto parsed = base::parse_json(error.status()->body)) return std::move(parsed).value();
  }
  const Error plain = internal_error(error.render());
  return base::parse_json(plain.status()->body).value();
}

int status_code(const Error& error) {
  return error.status() != nullptr ? error.status()->code : 500;
}

}  // namespace kubewatch::apiserver
