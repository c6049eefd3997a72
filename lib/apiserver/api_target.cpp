#include "apiserver/api_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "apiserver/duplicate_fields.hpp"
#include "apiserver/go_json_text.hpp"
#include "apiserver/protobuf.hpp"
#include "base/printable.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "base/yaml_body.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kLongestManager = 128;

// "application/json; charset=utf-8" -> "application/json".
std::string media_type(const ApiRequest& request) {
  const std::string header(request.headers.get("Content-Type"));
  return base::to_lower(base::trim(header.substr(0, header.find(';'))));
}

// Where the first character stands that shows nothing, and its code; bytes that are no UTF-8 count
// as U+FFFD, which shows.
std::optional<std::pair<std::size_t, char32_t>> first_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char one = base::next_utf8(text, at);
    if (one.valid && !base::is_print(one.code)) return std::pair(at, one.code);
    at += one.size;
  }
  return std::nullopt;
}

std::string manager_of_agent(const ApiRequest& request) {
  std::string agent(request.headers.get("User-Agent"));
  agent = agent.substr(0, agent.find('/'));
  std::string out;
  for (const char c : agent.substr(0, kLongestManager)) {
    if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F) out += c;
  }
  return out.empty() ? "unknown" : out;
}

struct WarningText {
  std::string_view whole;
  std::string_view beginning;
  std::size_t length = 0;  // code points
};

// Absent: no header may hold it.
std::optional<WarningText> warning_text(std::string_view text, std::size_t most) {
  WarningText out{text, text, 0};
  for (std::size_t at = 0; at < text.size(); ++out.length) {
    if (out.length == most) out.beginning = text.substr(0, at);
    const base::Utf8Char one = base::next_utf8(text, at);
    if (!one.valid || one.code < U' ' || (one.code >= 0x7F && one.code < 0xA0)) return std::nullopt;
    at += one.size;
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

const char* options_kind(const std::string& method) {
  if (method == "PATCH") return "PatchOptions";
  return method == "PUT" ? "UpdateOptions" : "CreateOptions";
}

void check_options(const ApiRequest& request, const Query& query, bool apply, FieldErrors& errors) {
  const auto dry_run = query.all("dryRun");
  for (const auto& one : dry_run) {
    if (one == "All") continue;
    errors.push_back(field_not_supported("dryRun", schema::shown_value(Json(dry_run)), {"All"}));
    break;
  }
  const std::string manager = query.get("fieldManager");
  if (manager.size() > kLongestManager) {
    errors.push_back(field_too_long("fieldManager", kLongestManager));
  }
  if (const auto bad = first_unprintable(manager)) {
    errors.push_back(field_invalid("fieldManager", schema::go_quoted(manager),
                                   fmt::format("invalid character U+{:04X} (at position {})",
                                               static_cast<unsigned>(bad->second), bad->first)));
  }
  const std::string validation = query.get("fieldValidation");
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" &&
      validation != "Strict") {
    errors.push_back(field_not_supported("fieldValidation", '"' + validation + '"',
                                         {"", "Ignore", "Strict", "Warn"}));
  }
  if (request.method != "PATCH") return;
  if (apply && manager.empty()) {
    errors.push_back(field_required("fieldManager", "is required for apply patch"));
  }
  if (!apply && query.has("force")) {
    errors.push_back(field_forbidden("force", "may not be specified for non-apply patch"));
  }
}

}  // namespace

Result<Representation> representation_of(const ApiRequest& request, const Resource& resource,
                                         const Query& query, Endpoint endpoint, bool tables) {
  const Negotiated what{endpoint, resource.custom != nullptr, resource.go_type, tables};
  KW_ASSIGN(Representation as, negotiate(request.headers.get("Accept"), what));
  as.pretty = as.pretty || query.flag("pretty");
  const std::string include = query.get("includeObject");
  if (include == "None") as.include = IncludeObject::none;
  if (include == "Object") as.include = IncludeObject::object;
  if (as.format == Format::table && !include.empty() && include != "None" && include != "Object" &&
      include != "Metadata") {
    return bad_request(fmt::format(
        "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be "
        "'Metadata', 'Object', 'None', or empty",
        base::json_quoted(include)));
  }
  return as;
}

ApiResponse text_response(const Representation& as, std::string json, int status) {
  ApiResponse response;
  response.status = status;
  response.body = finish(as, std::move(json));
  if (as.yaml) response.content_type = "application/yaml";
  return response;
}

// Headers have their limits, and a body may say a thousand things twice.
void add_warnings(const std::vector<std::string>& warnings, ApiResponse& response) {
  constexpr std::size_t kMost = 4096;  // code points, of all
  constexpr std::size_t kMostOfOne = 256;
  std::set<std::string_view> told;
  std::vector<WarningText> texts;
  std::size_t total = 0;
  for (const std::string& warning : warnings) {
    if (warning.empty() || !told.insert(warning).second) continue;
    const auto text = warning_text(warning, kMostOfOne);
    if (!text) continue;
    texts.push_back(*text);
    total += text->length;
  }
  const bool cut = total > kMost;
  std::size_t whole = 0;
  std::size_t used = 0;
  for (const WarningText& text : texts) {
    // The first that was one too many is still told, with those before it.
    if (whole > kMost && used >= kMost) return;
    whole += text.length;
    used += cut ? std::min(text.length, kMostOfOne) : text.length;
    response.headers.add("Warning", "299 - " + quoted(cut ? text.beginning : text.whole));
  }
}

ApiResponse status_response(const Json& status, int code) {
  ApiResponse response;
  response.status = code;
  response.body = base::dump_json(status);
  if (const auto retry = base::int_at(status, {"details", "retryAfterSeconds"})) {
    response.headers.add("Retry-After", std::to_string(*retry));
  }
  return response;
}

ApiResponse plain_response(const ApiRequest& request, const Json& status, int code) {
  Representation as = negotiate_status(request.headers.get("Accept"));
  if (const auto query = parse_query(request.query)) {
    as.pretty = as.pretty || query.value().flag("pretty");
  }
  ApiResponse response = status_response(status, code);
  response.body = finish(as, std::move(response.body));
  if (as.yaml) response.content_type = "application/yaml";
  return response;
}

Result<WriteContext> write_context(const ApiRequest& request, const ResourcePtr& resource,
                                   const ResourcePath& path, const Query& query, WallTime now) {
  const bool apply = media_type(request) == "application/apply-patch+yaml";
  FieldErrors errors;
  check_options(request, query, apply, errors);
  if (!errors.empty()) return invalid_options(options_kind(request.method), errors);
  WriteContext context;
  context.resource = resource;
  context.namespace_ = path.namespace_;
  context.name = path.name;
  context.subresource = path.subresource;
  context.manager = query.get("fieldManager");
  if (context.manager.empty()) context.manager = manager_of_agent(request);
  context.caller = acting(request);
  context.dry_run = query.has("dryRun");
  context.force = query.flag("force");
  const std::string validation = query.get("fieldValidation");
  if (validation == "Ignore") context.validation = FieldValidation::ignore;
  if (validation == "Strict") context.validation = FieldValidation::strict;
  context.now = now;
  return context;
}

namespace {

// As the server shows the body that it could not read.
std::string excerpt_of(const std::string& body) {
  constexpr std::size_t kMost = 30;
  if (body.empty()) return "<empty>";
  const std::string start = body.substr(0, kMost);
  const char* more = body.size() > kMost ? " ..." : "";
  if (body[0] == '{') return start + more;
  std::string hex;
  for (const char c : start) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex + more;
}

Error unrecognized(const Resource& resource, const std::string& body, const std::string& why) {
  return bad_request(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                  resource.type.gvk.kind, why, excerpt_of(body)));
}

constexpr const char kNoVersion[] = "couldn't get version/kind; json parse error: ";

// Where the value is no object with texts for apiVersion and kind: what the decoder says of it.
std::optional<std::string> why_no_object(const Json& value) {
  if (!value.is_object()) {
    return kNoVersion +
           schema::misread_value(schema::json_word(value),
                                 R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; )"
                                 R"(Kind string "json:\"kind,omitempty\"" })");
  }
  for (const char* key : {"apiVersion", "kind"}) {
    const Json* text = base::find(value, {key});
    if (text == nullptr || text->is_null() || text->is_string()) continue;
    return kNoVersion +
           schema::misread_field(schema::json_word(*text), fmt::format(".{}", key), "string");
  }
  return std::nullopt;
}

// Null is an object that says nothing, but for custom kinds, which must say what they are.
Result<Json> typed_body(const Resource& resource, const std::string& body, Json value) {
  if (value.is_null() && resource.custom) {
    return unrecognized(resource, body, "Object 'Kind' is missing in 'null'");
  }
  if (value.is_null()) return Json::object();
  if (const auto why = why_no_object(value)) return unrecognized(resource, body, *why);
  return value;
}

Error unknown_format(bool protobuf) {
  return unsupported_media(fmt::format(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml{}",
      protobuf ? ", application/vnd.kubernetes.protobuf" : ""));
}

}  // namespace

Result<Json> parse_request_body(const ApiRequest& request, const Resource& resource,
                                std::vector<std::string>* faults) {
  const std::string media = media_type(request);
  if (media == "application/yaml") {
    auto body = base::parse_yaml_body(request.body);
    if (!body) return bad_request("error decoding YAML: " + body.error().message());
    if (faults != nullptr) *faults = std::move(body->repeated);
    return typed_body(resource, request.body, std::move(body->value));
  }
  // Typed clients send built-in kinds so; custom resources never come in protobuf.
  if (media == "application/vnd.kubernetes.protobuf" && !resource.custom) {
    auto value = decode_protobuf(request.body);
    return value ? std::move(value) : Result<Json>(bad_request(value.error().message()));
  }
  if (!media.empty() && media != "application/json") {
    return unknown_format(resource.custom == nullptr);
  }
  auto value = parse_go_json(request.body);
  if (!value) {
    return unrecognized(resource, request.body, kNoVersion + value.error().message());
  }
  if (faults != nullptr) *faults = duplicate_fields(request.body);
  return typed_body(resource, request.body, std::move(*value));
}

Result<Json> parse_options_body(const ApiRequest& request) {
  const std::string media = media_type(request);
  Json value;
  if (media == "application/vnd.kubernetes.protobuf") {
    auto decoded = decode_protobuf(request.body);
    if (!decoded) return bad_request(decoded.error().message());
    value = std::move(*decoded);
  } else if (media == "application/yaml") {
    auto body = base::parse_yaml_body(request.body);
    if (!body) return bad_request(body.error().message());
    value = std::move(body->value);
  } else if (media.empty() || media == "application/json") {
    auto parsed = parse_go_json(request.body);
    if (!parsed) return bad_request(kNoVersion + parsed.error().message());
    value = std::move(*parsed);
  } else {
    return unknown_format(true);
  }
  if (value.is_null()) return value;
  if (const auto why = why_no_object(value)) return bad_request(*why);
  return value;
}

bool is_yaml(const ApiRequest& request) {
  return media_type(request) == "application/yaml";
}

Result<core::PatchType> patch_type(const ApiRequest& request, const Resource& resource) {
  const std::string media = media_type(request);
  if (media == "application/json-patch+json") return core::PatchType::json;
  if (media == "application/merge-patch+json") return core::PatchType::merge;
  if (media == "application/apply-patch+yaml") return core::PatchType::apply;
  if (media == "application/strategic-merge-patch+json" && !resource.custom) {
    return core::PatchType::strategic;
  }
  // The router in front of the built-in kinds says so.
  if (!resource.custom) {
    return api_error(415, "UnsupportedMediaType", "415: Unsupported Media Type", Json::object());
  }
  return unsupported_media(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

}  // namespace kubewatch::apiserver
