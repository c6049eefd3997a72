#include "apiserver/api_target.hpp"

#include <fmt/format.h>

#include "apiserver/protobuf.hpp"
#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "base/yaml_body.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kLongestManager = 128;

// "application/json; charset=utf-8" -> "application/json".
std::string media_type(const ApiRequest& request) {
  const std::string header(request.headers.get("Content-Type"));
  return base::to_lower(base::trim(header.substr(0, header.find(';'))));
}

bool is_printable(const std::string& text) {
  for (const char c : text) {
    if (base::is_control(c)) return false;
  }
  return base::is_valid_utf8(text);
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

const char* options_kind(const std::string& method) {
  if (method == "PATCH") return "PatchOptions";
  return method == "PUT" ? "UpdateOptions" : "CreateOptions";
}

void check_options(const ApiRequest& request, const Query& query, bool apply, FieldErrors& errors) {
  const auto dry_run = query.all("dryRun");
  for (const auto& one : dry_run) {
    if (one == "All") continue;
    errors.push_back(field_not_supported("dryRun", base::dump_json(Json(dry_run)), {"All"}));
    break;
  }
  const std::string manager = query.get("fieldManager");
  if (manager.size() > kLongestManager) {
    errors.push_back(field_too_long("fieldManager", kLongestManager));
  } else if (!is_printable(manager)) {
    errors.push_back(field_invalid("fieldManager", base::dump_json(Json(manager)),
                                   "should only contain printable characters"));
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
                                         const Query& query, Endpoint endpoint) {
  KW_ASSIGN(Representation as,
            negotiate(request.headers.get("Accept"), endpoint, "core." + resource.type.gvk.kind));
  as.pretty = as.pretty || query.flag("pretty");
  const std::string include = query.get("includeObject");
  if (include == "None") as.include = IncludeObject::none;
  if (include == "Object") as.include = IncludeObject::object;
  if (as.format == Format::table && !include.empty() && include != "None" && include != "Object" &&
      include != "Metadata") {
    return bad_request(fmt::format(
        "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be "
        "'Metadata', 'Object', 'None', or empty",
        base::dump_json(Json(include))));
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

void add_warnings(const std::vector<std::string>& warnings, ApiResponse& response) {
  for (const auto& warning : warnings) {
    std::string quoted;
    for (const char c : warning) {
      if (c == '"' || c == '\\') quoted += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
    }
    response.headers.add("Warning", fmt::format("299 - \"{}\"", quoted));
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
  context.dry_run = query.has("dryRun");
  context.force = query.flag("force");
  const std::string validation = query.get("fieldValidation");
  if (validation == "Ignore") context.validation = FieldValidation::ignore;
  if (validation == "Strict") context.validation = FieldValidation::strict;
  context.now = now;
  return context;
}

Result<Json> parse_request_body(const ApiRequest& request, const Resource& resource) {
  const std::string media = media_type(request);
  if (media == "application/yaml") {
    auto documents = base::parse_pure_yaml_values(request.body);
    if (documents && documents->size() == 1) return std::move(documents.value()[0]);
    return bad_request("error decoding YAML: " +
                       (documents ? "one document is expected" : documents.error().message()));
  }
  // Typed clients send built-in kinds so; custom resources never come in protobuf.
  if (media == "application/vnd.kubernetes.protobuf" && !resource.custom) {
    auto value = decode_protobuf(request.body);
    return value ? std::move(value) : Result<Json>(bad_request(value.error().message()));
  }
  if (!media.empty() && media != "application/json" && media != "*/*") {
    return unsupported_media(fmt::format(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml{}",
        resource.custom ? "" : ", application/vnd.kubernetes.protobuf"));
  }
  auto value = base::parse_json(request.body);
  if (value) return value;
  return bad_request(fmt::format(
      "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json "
      "parse error: {} ({})",
      resource.type.gvk.kind, value.error().message(),
      request.body.empty() ? std::string("<empty>") : request.body.substr(0, 30)));
}

Result<core::PatchType> patch_type(const ApiRequest& request, const Resource& resource) {
  const std::string media = media_type(request);
  if (media == "application/json-patch+json") return core::PatchType::json;
  if (media == "application/merge-patch+json") return core::PatchType::merge;
  if (media == "application/apply-patch+yaml") return core::PatchType::apply;
  if (media == "application/strategic-merge-patch+json" && !resource.custom) {
    return core::PatchType::strategic;
  }
  const char* strategic = resource.custom ? "" : "application/strategic-merge-patch+json, ";
  return unsupported_media(
      fmt::format("the body of the request was in an unknown format - accepted media types "
                  "include: application/json-patch+json, application/merge-patch+json, {}"
                  "application/apply-patch+yaml",
                  strategic));
}

}  // namespace kubewatch::apiserver
