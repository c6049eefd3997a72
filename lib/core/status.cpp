// HTTP answers >= 400 and ERROR events as Errors. The HTTP status decides the kind; the reason
// refines it.
#include "core/status.hpp"

#include <charconv>
#include <optional>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::core {
namespace {

constexpr std::size_t kMaxStatusBytes = 1U << 20U;
constexpr std::size_t kMaxQuotedBytes = 200;
constexpr std::size_t kMaxDepth = 64;
constexpr int kMaxRetryAfterSeconds = 24 * 3600;
// Of a Status that says no more than the page which most such answers are.
constexpr std::string_view kNoSuchPath = "the server could not find the requested resource";

struct ReasonCode {
  std::string_view reason;
  int code;
};
// Of several reasons with one code the first is what reason_of_code() gives.
constexpr ReasonCode kReasonCodes[] = {
    {"BadRequest", 400},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"Conflict", 409},
    {"AlreadyExists", 409},
    {"Expired", 410},
    {"Gone", 410},
    {"Invalid", 422},
    {"TooManyRequests", 429},
    {"InternalError", 500},
    {"Timeout", 504},
    {"ServerTimeout", 500},
    {"ServiceUnavailable", 503},
    {"RequestEntityTooLarge", 413},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"UnsupportedMediaType", 415},
};

// For Status objects in a stream that carry no code.
int code_of_reason(std::string_view reason) {
  for (const ReasonCode& entry : kReasonCodes) {
    if (entry.reason == reason) return entry.code;
  }
  return 0;
}

ErrorKind kind_of(int code, std::string_view reason) {
  if (reason == "Expired" || reason == "Gone") return ErrorKind::gone;
  switch (code) {
    case 401: return ErrorKind::unauthorized;
    case 403: return ErrorKind::forbidden;
    case 404: return ErrorKind::not_found;
    case 405:
    case 406:
    case 415: return ErrorKind::unsupported;
    case 408:
    case 504: return ErrorKind::timeout;
    case 409: return reason == "AlreadyExists" ? ErrorKind::already_exists : ErrorKind::conflict;
    case 410: return ErrorKind::gone;
    case 413: return ErrorKind::too_large;
    case 429: return ErrorKind::rate_limited;
    default: break;
  }
  if (code >= 500) return ErrorKind::unavailable;
  return code >= 400 ? ErrorKind::invalid : ErrorKind::internal;
}

std::string_view phrase_of(int code) {
  switch (code) {
    case 400: return " Bad Request";
    case 401: return " Unauthorized";
    case 403: return " Forbidden";
    case 404: return " Not Found";
    case 405: return " Method Not Allowed";
    case 406: return " Not Acceptable";
    case 409: return " Conflict";
    case 410: return " Gone";
    case 413: return " Payload Too Large";
    case 415: return " Unsupported Media Type";
    case 422: return " Unprocessable Entity";
    case 429: return " Too Many Requests";
    case 500: return " Internal Server Error";
    case 502: return " Bad Gateway";
    case 503: return " Service Unavailable";
    case 504: return " Gateway Timeout";
    default: return "";
  }
}

// What a person would quote of a body that is no Status: the title of a page, else the first line.
std::string first_line(std::string_view body) {
  body = base::trim(body);
  if (is_page(body)) {
    const std::size_t open = body.find("<title>");
    if (open == std::string_view::npos) return "";
    body.remove_prefix(open + std::string_view("<title>").size());
    body = base::trim(body.substr(0, body.find('<')));
  }
  body = base::trim(body.substr(0, body.find_first_of("\r\n")));
  if (body.size() <= kMaxQuotedBytes) return std::string(body);
  return std::string(body.substr(0, kMaxQuotedBytes)) + "...";
}

std::optional<int> parse_seconds(std::string_view text) {
  text = base::trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = end != text.data() && end == text.data() + text.size();
  if (error == std::errc::result_out_of_range && digits && text.front() != '-') {
    return kMaxRetryAfterSeconds;
  }
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return std::min(value, kMaxRetryAfterSeconds);
}

std::optional<Json> parse_status(std::string_view body) {
  if (base::trim(body).substr(0, 1) != "{") return std::nullopt;
  Result<Json> parsed = base::parse_json(
      body, base::JsonLimits{.max_bytes = kMaxStatusBytes, .max_depth = kMaxDepth});
  if (!parsed.ok() || base::string_at(*parsed, {"kind"}) != "Status") return std::nullopt;
  return std::move(parsed).value();
}

Error from_status(const Json& object, int http_code, std::string_view raw,
                  std::optional<int> retry_after) {
  base::ApiStatus status;
  status.reason = base::string_at(object, {"reason"});
  status.message = base::string_at(object, {"message"});
  status.code = http_code;
  if (status.code == 0) {
    const auto sent = base::int_at(object, {"code"});
    if (sent && *sent >= 0 && *sent <= 999) status.code = static_cast<int>(*sent);
  }
  if (status.code == 0) status.code = code_of_reason(status.reason);
  status.retry_after_seconds = retry_after;
  if (!retry_after) {
    const auto sent = base::int_at(object, {"details", "retryAfterSeconds"});
    if (sent && *sent > 0) {
      status.retry_after_seconds =
          static_cast<int>(std::min<std::int64_t>(*sent, kMaxRetryAfterSeconds));
    }
  }
  status.body = raw;
  std::string message = status.message;
  if (message.empty()) {
    message = "the server answered " + std::to_string(status.code) +
              std::string(phrase_of(status.code)) +
              (status.reason.empty() ? "" : " (" + status.reason + ")");
  }
  const ErrorKind kind = kind_of(status.code, status.reason);
  return Error(kind, std::move(message), std::move(status));
}

}  // namespace

base::Error error_from_response(int code, std::string_view body, std::string_view retry_after) {
  const std::optional<int> retry = parse_seconds(retry_after);
  if (auto object = parse_status(body)) return from_status(*object, code, body, retry);
  std::string message =
      "the server answered " + std::to_string(code) + std::string(phrase_of(code));
  if (std::string line = first_line(body); !line.empty()) message += ": " + line;
  base::ApiStatus status;
  status.code = code;
  status.retry_after_seconds = retry;
  status.body = body.substr(0, kMaxStatusBytes);
  status.message = message;
  return Error(kind_of(code, ""), std::move(message), std::move(status));
}

std::string reason_of_code(int code) {
  for (const ReasonCode& entry : kReasonCodes) {
    if (entry.code == code) return std::string(entry.reason);
  }
  return code >= 500 ? "InternalError" : "";
}

Json status_body(int code, const std::string& reason, const std::string& message) {
  Json body = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
               {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) body["reason"] = reason;
  return body;
}

base::Error error_from_status_json(std::string_view object_json) {
  if (auto object = parse_status(object_json)) {
    return from_status(*object, 0, object_json, std::nullopt);
  }
  return Error(ErrorKind::internal, "the server sent an ERROR event whose object is no Status");
}

bool is_page(std::string_view body) {
  return base::trim(body).starts_with('<');
}

std::vector<StatusCause> causes_of(const base::Error& error) {
  std::vector<StatusCause> out;
  if (error.status() == nullptr) return out;
  const auto object = parse_status(error.status()->body);
  if (!object) return out;
  for (const Json& cause : base::items_at(*object, {"details", "causes"})) {
    out.push_back({base::string_at(cause, {"reason"}), base::string_at(cause, {"message"}),
                   base::string_at(cause, {"field"})});
  }
  return out;
}

bool is_unknown_path(const base::Error& error) {
  if (!error.is_not_found() || error.status() == nullptr) return false;
  const auto object = parse_status(error.status()->body);
  return !object || base::string_at(*object, {"details", "name"}).empty();
}

bool is_absent_object(const base::Error& error) {
  const base::ApiStatus* status = error.status();
  return error.is_not_found() && status != nullptr && status->reason == "NotFound" &&
         status->message != kNoSuchPath;
}

bool is_resource_version_too_large(const base::Error& error) {
  if (error.status() == nullptr) return false;
  for (const StatusCause& cause : causes_of(error)) {
    if (cause.reason == "ResourceVersionTooLarge") return true;
  }
  // Servers before 1.19 name no cause.
  return error.status()->message.find("Too large resource version") != std::string::npos;
}

}  // namespace kubewatch::core
