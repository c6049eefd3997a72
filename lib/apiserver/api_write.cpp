// The writing verbs of Api: create, update, patch, scale, token, eviction and binding of a Pod.
// What takes away is in api_delete.cpp.
#include <fmt/format.h>

#include <set>

#include "apiserver/api_target.hpp"
#include "apiserver/duplicate_fields.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/pod_actions.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "base/yaml_body.hpp"
#include "core/json_path.hpp"
#include "schema/patch.hpp"

namespace kubewatch::apiserver {

namespace {

// Of go-yaml, as one error.
std::string yaml_faults(const std::vector<std::string>& faults) {
  return "yaml: unmarshal errors:\n  " + base::join(faults, "\n  ");
}

// The body of server-side apply. What it says twice is warned of, or refused.
Result<Json> parse_applied(const WriteContext& context, const std::string& text) {
  auto body = base::parse_yaml_body(text);
  if (!body) return bad_request("error decoding YAML: " + body.error().message());
  if (!body->repeated.empty() && context.validation == FieldValidation::strict) {
    return bad_request("error strict decoding YAML: error converting YAML to JSON: " +
                       yaml_faults(body->repeated));
  }
  if (context.validation == FieldValidation::warn) *context.warnings = std::move(body->repeated);
  return body->value.is_null() ? Json::object() : std::move(body->value);
}

// Also what an operation has that no operation has.
std::vector<std::string> faults_of_patch(const std::string& text, core::PatchType type,
                                         const Json& patch) {
  std::vector<std::string> faults = duplicate_fields(text);
  if (type != core::PatchType::json || !patch.is_array()) return faults;
  for (std::string& fault : faults) fault = "json patch " + fault;
  static const std::set<std::string> known = {"op", "path", "from", "value"};
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    for (const auto& [key, value] : patch[i].items()) {
      if (known.count(key) != 0) continue;
      faults.push_back(fmt::format("json patch unknown field \"[{}].{}\"", i, key));
    }
  }
  return faults;
}

Result<Json> parse_patch(WriteContext& context, const std::string& body, core::PatchType type) {
  if (type == core::PatchType::apply) return parse_applied(context, body);
  auto value = base::parse_json(body);
  if (!value) {
    const char* prefix = type == core::PatchType::strategic ? "" : "error decoding patch: ";
    return bad_request(prefix + value.error().message());
  }
  if (context.validation != FieldValidation::ignore) {
    context.faults = faults_of_patch(body, type, *value);
  }
  return value;
}

constexpr const char* kScaleVersion = "autoscaling/v1";
constexpr std::size_t kTokenSecretBytes = 32;

struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
};

ScalePaths scale_paths(const Resource& resource) {
  if (!resource.custom) return {};
  return {resource.custom->scale_spec_path, resource.custom->scale_status_path};
}

// What selects the object's Pods, as text. A ReplicationController's selector is the labels.
std::string scale_selector(const Resource& resource, const Json& object) {
  if (resource.custom != nullptr) {
    const auto found = core::find_at(object, resource.custom->scale_selector_path);
    return found.empty() || !found[0]->is_string() ? "" : found[0]->get<std::string>();
  }
  const Json* selector = base::find(object, {"spec", "selector"});
  if (selector == nullptr) return "";
  const bool labels = resource.type.gvk.group.empty();
  const auto parsed =
      core::LabelSelector::from_json(labels ? Json{{"matchLabels", *selector}} : *selector);
  return parsed.ok() ? parsed->str() : "";
}

std::int64_t count_at(const Json& object, const std::string& path, std::int64_t fallback) {
  const auto found = core::find_at(object, path);
  return found.empty() || !found[0]->is_number_integer() ? fallback : found[0]->get<std::int64_t>();
}

Json scale_of(const Resource& resource, const Object& object) {
  const ScalePaths paths = scale_paths(resource);
  Json metadata = Json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const auto it = object.json().at("metadata").find(key);
    if (it != object.json().at("metadata").end()) metadata[key] = *it;
  }
  Json status = {{"replicas", count_at(object.json(), paths.status, 0)}};
  if (std::string selector = scale_selector(resource, object.json()); !selector.empty()) {
    status["selector"] = std::move(selector);
  }
  return {{"apiVersion", kScaleVersion},
          {"kind", "Scale"},
          {"metadata", metadata},
          {"spec", {{"replicas", count_at(object.json(), paths.spec, resource.custom ? 0 : 1)}}},
          {"status", std::move(status)}};
}

// For its table: nothing of it is stored.
Resource scale_resource() {
  Resource out;
  out.type.gvk = {"autoscaling", "v1", "Scale"};
  out.type.plural = "scales";
  out.storage_gvk = out.type.gvk;
  out.storage_id = "scales.autoscaling";
  out.merge = schema::deduced_merge_schema();
  return out;
}

}  // namespace

Result<Reply> Api::write(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  KW_ASSIGN(const Representation as,
            representation_of(request, resource, target.query, Endpoint::object));
  const bool patching = request.method == "PATCH";
  core::PatchType type = core::PatchType::json;
  if (patching) {
    KW_ASSIGN(type, patch_type(request, resource));
  }
  KW_ASSIGN(WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  auto body = patching ? parse_patch(context, request.body, type)
                       : parse_request_body(request, resource, &context.faults);
  if (!body) {
    // The server reads patches when it has the object, which an apply may create.
    if (patching && type != core::PatchType::apply) {
      KW_TRY(writer_.live(context));
    }
    return body.error();
  }
  if (context.validation == FieldValidation::ignore) context.faults.clear();
  if (is_yaml(request) && context.validation == FieldValidation::strict &&
      !context.faults.empty()) {
    context.faults = {yaml_faults(context.faults)};
  }
  auto written = [&]() -> Result<Written> {
    if (request.method == "POST") return writer_.create(context, std::move(*body));
    if (!patching) return writer_.update(context, std::move(*body));
    if (type == core::PatchType::apply) return writer_.apply(context, std::move(*body));
    return writer_.patch(context, type, *body);
  }();
  // Also of what is refused.
  warnings_ = *context.warnings;
  KW_TRY(written);
  Reply reply;
  reply.response = text_response(as, object_text(resource, as, *written->object, now),
                                 written->created ? 201 : 200);
  return reply;
}

// Server-side apply to a scale is one to the replicas of its object: the same owners, the same
// conflicts. A custom resource's is merged, and then the real server fails to convert it (1.36).
Result<ObjectPtr> Api::apply_scale(const WriteContext& context, const Json& scale) {
  const Resource& resource = *context.resource;
  if (base::string_at(scale, {"apiVersion"}) != kScaleVersion ||
      base::string_at(scale, {"kind"}) != "Scale") {
    return bad_request("invalid object type: " + base::string_at(scale, {"apiVersion"}) +
                       ", Kind=" + base::string_at(scale, {"kind"}));
  }
  Json wanted = {{"apiVersion", resource.type.gvk.api_version()},
                 {"kind", resource.type.gvk.kind},
                 {"metadata", {{"name", context.name}}}};
  if (const auto version = base::string_at(scale, {"metadata", "resourceVersion"});
      !version.empty()) {
    wanted["metadata"]["resourceVersion"] = version;
  }
  if (const Json* replicas = base::find(scale, {"spec", "replicas"}); replicas != nullptr) {
    if (!core::set_at(wanted, scale_paths(resource).spec, *replicas)) {
      return bad_request("the path of the replicas leads nowhere");
    }
  }
  WriteContext how = context;
  how.dry_run = how.dry_run || resource.custom != nullptr;
  how.told_version = kScaleVersion;
  KW_ASSIGN(const Written written, writer_.apply(how, std::move(wanted)));
  if (resource.custom == nullptr) return written.object;
  return internal_error(
      fmt::format("failed to convert new object ({}/{}; autoscaling/v1, Kind=Scale) to proper "
                  "version: request to convert CR to an invalid group/version: autoscaling/v1",
                  context.namespace_, context.name));
}

Result<Reply> Api::scale(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  KW_ASSIGN(WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  KW_ASSIGN(const ObjectPtr live, writer_.live(context));
  const bool reading = request.method == "GET";
  if (reading && resource.custom &&
      core::find_at(live->json(), scale_paths(resource).spec).empty()) {
    return internal_error(
        fmt::format("the spec replicas field \"{}\" does not exist", scale_paths(resource).spec));
  }
  Json scale = scale_of(resource, *live);
  if (reading) {
    const Resource as_scale = scale_resource();
    KW_ASSIGN(const Representation as,
              representation_of(request, as_scale, target.query, Endpoint::object));
    return Reply{text_response(as, object_text(as_scale, as, Object(std::move(scale)), now)),
                 nullptr};
  }
  if (request.method == "PUT") {
    KW_ASSIGN(scale, parse_request_body(request, resource));
    KW_TRY(check_url_name(scale, context.name));
  } else if (request.method == "PATCH") {
    KW_ASSIGN(const core::PatchType type, patch_type(request, resource));
    KW_ASSIGN(const Json patch, parse_patch(context, request.body, type));
    if (type == core::PatchType::apply) {
      KW_ASSIGN(const ObjectPtr after, apply_scale(context, patch));
      return Reply{status_response(scale_of(resource, *after), 200), nullptr};
    }
    KW_ASSIGN(scale, patched(scale_resource(), type, scale, patch));
    KW_TRY(check_url_name(scale, context.name));
  } else {
    return method_not_allowed();
  }
  if (const std::string ns = base::string_at(scale, {"metadata", "namespace"});
      !ns.empty() && ns != context.namespace_) {
    return wrong_namespace();
  }
  const Json* given = base::find(scale, {"spec", "replicas"});
  // Who says none wants none.
  const auto replicas = given == nullptr || given->is_null()
                            ? std::int64_t{0}
                            : base::int_at(scale, {"spec", "replicas"});
  const std::string version = base::string_at(scale, {"metadata", "resourceVersion"});
  // What a custom kind allows its own checks say.
  if (!replicas || (*replicas < 0 && !resource.custom)) {
    return invalid({"autoscaling", "Scale", context.name},
                   {field_invalid("spec.replicas", std::to_string(replicas.value_or(0)),
                                  "must be greater than or equal to 0")});
  }
  if (!version.empty() && version != std::to_string(live->version())) {
    return modified(resource.subject(context.name));
  }
  KW_ASSIGN(const ObjectPtr after, writer_.changed(context, [&](Json& object) {
    return core::set_at(object, scale_paths(resource).spec, *replicas);
  }));
  return Reply{status_response(scale_of(resource, after ? *after : *live), 200), nullptr};
}

// A dry run gives a token as well, as there.
Result<Reply> Api::token(const ApiRequest& request, const Target& target, WallTime now) {
  KW_ASSIGN(const WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  Resource as_sent = *target.resource;
  as_sent.type.gvk = {"authentication.k8s.io", "v1", "TokenRequest"};
  KW_ASSIGN(const Json body, parse_request_body(request, as_sent));
  if (storage_.get("namespaces", context.namespace_) == nullptr) {
    return not_found({"", "namespaces", context.namespace_});
  }
  KW_ASSIGN(const ObjectPtr account, writer_.live(context));
  KW_ASSIGN(const Tokens::Issued issued,
            tokens_.issue(context, *account, body, base::secure_random_hex(kTokenSecretBytes)));
  Reply reply{status_response(issued.answer, 201), nullptr};
  add_warnings(issued.warnings, reply.response);
  return reply;
}

Result<Reply> Api::act_on_pod(const ApiRequest& request, const Target& target, WallTime now) {
  KW_ASSIGN(const WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  KW_ASSIGN(const Json body, parse_request_body(request, *target.resource));
  if (target.path.subresource == "eviction") {
    const ResourcePtr budgets = registry_.find("policy", "v1", "poddisruptionbudgets");
    KW_TRY(evict_pod(storage_, writer_, context, budgets, body));
  } else {
    KW_TRY(bind_pod(storage_, context, body));
  }
  return Reply{status_response({{"kind", "Status"},
                                {"apiVersion", "v1"},
                                {"metadata", Json::object()},
                                {"status", "Success"},
                                {"code", 201}},
                               201),
               nullptr};
}

}  // namespace kubewatch::apiserver
