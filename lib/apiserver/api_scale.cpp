// The scale subresource: how many replicas an object wants, read and written as a Scale of
// autoscaling/v1, which is stored nowhere.
#include <fmt/format.h>

#include <set>

#include "apiserver/api_target.hpp"
#include "apiserver/go_struct.hpp"
#include "apiserver/metadata.hpp"
#include "core/json_path.hpp"
#include "schema/patch.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr const char* kScaleVersion = "autoscaling/v1";

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

// Who wants no replicas says so by saying nothing.
Json scale_of(const Resource& resource, const Object& object) {
  const ScalePaths paths = scale_paths(resource);
  Json metadata = Json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const auto it = object.json().at("metadata").find(key);
    if (it != object.json().at("metadata").end()) metadata[key] = *it;
  }
  Json spec = Json::object();
  if (const auto wanted = count_at(object.json(), paths.spec, resource.custom ? 0 : 1)) {
    spec["replicas"] = wanted;
  }
  Json status = {{"replicas", count_at(object.json(), paths.status, 0)}};
  if (std::string selector = scale_selector(resource, object.json()); !selector.empty()) {
    status["selector"] = std::move(selector);
  }
  return {{"apiVersion", kScaleVersion},
          {"kind", "Scale"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

const GoStruct& scale_type() {
  static const GoStruct spec = {"ScaleSpec", {{"replicas", GoKind::int32, "int32"}}};
  static const GoStruct status = {
      "ScaleStatus", {{"replicas", GoKind::int32, "int32"}, {"selector", GoKind::text, "string"}}};
  static const GoStruct type = {"Scale",
                                {{"apiVersion", GoKind::text, "string"},
                                 {"kind", GoKind::text, "string"},
                                 {"metadata", GoKind::structure, "v1.ObjectMeta"},
                                 {"spec", GoKind::structure, "v1.ScaleSpec", &spec},
                                 {"status", GoKind::structure, "v1.ScaleStatus", &status}}};
  return type;
}

// The columns that every custom kind's Scale has. Nothing is read by it.
std::shared_ptr<const CustomVersion> custom_scale() {
  static const auto version = [] {
    auto made = std::make_shared<CustomVersion>();
    made->columns = {
        {"Desired", "integer", "", "Number of desired replicas", ".spec.replicas", 0},
        {"Available", "integer", "", "Number of actual replicas", ".status.replicas", 0},
        {"Age", "date", "", "Time since the object was created.", ".metadata.creationTimestamp",
         0}};
    return made;
  }();
  return version;
}

// As what a Scale of this resource is read, patched and shown.
ResourcePtr scale_resource(const Resource& resource) {
  auto out = std::make_shared<Resource>();
  out->type.gvk = {"autoscaling", "v1", "Scale"};
  out->type.plural = "scales";
  out->type.namespaced = resource.type.namespaced;
  out->storage_gvk = out->type.gvk;
  out->storage_id = "scales.autoscaling";
  out->go_type = resource.custom ? "v1.Scale" : "autoscaling.Scale";
  out->merge = schema::deduced_merge_schema();
  return out;
}

// Of a body: versions of a Scale that there were are known, and refused.
Result<void> check_scale_type(const Json& scale) {
  static const std::set<std::string> old = {"apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"};
  const std::string given_kind = string_at(scale, {"kind"});
  const std::string given_version = string_at(scale, {"apiVersion"});
  const std::string kind = given_kind.empty() ? "Scale" : given_kind;
  const std::string version = given_version.empty() ? kScaleVersion : given_version;
  if (kind == "Scale" && version == kScaleVersion) return {};
  if (kind == "Scale" && old.count(version) != 0) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version, kScaleVersion));
  }
  return bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a Scale: no kind \"{}\" is registered "
                  "for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
                  kind, version.substr(version.find('/') + 1), kind, version));
}

// Fields that a Scale lacks are told or refused, and so are values of other types.
Result<Json> decode_scale(const WriteContext& as_scale, Json scale) {
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(*as_scale.resource, scale, unknown));
  if (const auto why = why_misread(scale_type(), scale)) {
    return undecodable(as_scale.resource->type.gvk, *why);
  }
  drop_unknown(scale_type(), scale, unknown);
  KW_ASSIGN(const auto warnings, field_warnings(as_scale, unknown));
  as_scale.warnings->insert(as_scale.warnings->end(), warnings.begin(), warnings.end());
  return scale;
}

// The real server fails to say what is wrong with a custom resource's, and says only this (1.36).
Error as_update_error(const Resource& resource, const Error& error) {
  if (!resource.custom || status_code(error) != 400) return error;
  return bad_request(
      "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"");
}

Result<Json> updated_scale(WriteContext& as_scale, const ApiRequest& request) {
  KW_ASSIGN(Json scale, parse_object(as_scale, request, *as_scale.resource));
  KW_TRY(check_scale_type(scale));
  return decode_scale(as_scale, std::move(scale));
}

Result<Json> patched_scale(const WriteContext& as_scale, core::PatchType type, const Json& live,
                           const Json& patch) {
  KW_ASSIGN(Json scale, patched(*as_scale.resource, type, live, patch));
  const std::string shown = shown_patch(type, patch, scale);
  if (type != core::PatchType::strategic) {
    KW_TRY(check_patched_type(as_scale, scale, [&] { return shown; }));
  }
  auto decoded = decode_scale(as_scale, std::move(scale));
  return decoded ? std::move(decoded) : Result<Json>(as_patch_error(decoded.error(), shown));
}

// What is asked for fits the object of the URL. Gives the replicas.
Result<std::int64_t> check_scale(const WriteContext& context, const Object& live,
                                 const Json& scale) {
  const Resource& resource = *context.resource;
  KW_TRY(check_url_name(scale, context.name));
  const std::string ns = string_at(scale, {"metadata", "namespace"});
  if (!ns.empty() && ns != context.namespace_) return wrong_namespace();
  // Who says none wants none.
  const auto replicas = base::int_at(scale, {"spec", "replicas"}).value_or(0);
  // What a custom kind allows its own checks say.
  if (replicas < 0 && !resource.custom) {
    return invalid({"autoscaling", "Scale", context.name},
                   {field_invalid("spec.replicas", std::to_string(replicas),
                                  "must be greater than or equal to 0")});
  }
  KW_TRY(check_uid(context, live.uid(), scale));
  KW_ASSIGN(const std::uint64_t version, version_of(scale));
  if (version != 0 && version != live.version()) return modified(resource.subject(context.name));
  return replicas;
}

}  // namespace

// Server-side apply to a scale is one to the replicas of its object: the same owners, the same
// conflicts. A custom resource's is merged, and then the real server fails to convert it (1.36).
Result<ObjectPtr> Api::apply_scale(const WriteContext& context, const Json& scale) {
  const Resource& resource = *context.resource;
  if (string_at(scale, {"apiVersion"}) != kScaleVersion || string_at(scale, {"kind"}) != "Scale") {
    return bad_request("invalid object type: " + string_at(scale, {"apiVersion"}) +
                       ", Kind=" + string_at(scale, {"kind"}));
  }
  Json wanted = {{"apiVersion", resource.type.gvk.api_version()},
                 {"kind", resource.type.gvk.kind},
                 {"metadata", {{"name", context.name}}}};
  if (const auto version = string_at(scale, {"metadata", "resourceVersion"}); !version.empty()) {
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

Result<ObjectPtr> Api::write_scale(const ApiRequest& request, WriteContext& context,
                                   const ResourcePtr& shape) {
  const Resource& resource = *context.resource;
  WriteContext as_scale = context;
  as_scale.resource = shape;
  Json scale;
  if (request.method == "PUT") {
    auto updated = updated_scale(as_scale, request);
    if (!updated) return as_update_error(resource, updated.error());
    scale = std::move(*updated);
  }
  KW_ASSIGN(const ObjectPtr live, writer_.live(context));
  if (request.method == "PATCH") {
    KW_ASSIGN(const core::PatchType type, patch_type(request, resource));
    KW_ASSIGN(const Json patch, parse_patch(as_scale, request.body, type));
    if (type == core::PatchType::apply) return apply_scale(context, patch);
    KW_ASSIGN(scale, patched_scale(as_scale, type, scale_of(resource, *live), patch));
  }
  KW_ASSIGN(const std::int64_t replicas, check_scale(context, *live, scale));
  KW_ASSIGN(ObjectPtr after, writer_.changed(context, [&](Json& object) {
    return core::set_at(object, scale_paths(resource).spec, replicas);
  }));
  return after ? after : live;
}

Result<Reply> Api::scale(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  const bool reading = request.method == "GET";
  if (!reading && request.method != "PUT" && request.method != "PATCH") return method_not_allowed();
  const ResourcePtr shape = scale_resource(resource);
  Resource look = *shape;
  if (resource.custom) look.custom = custom_scale();
  KW_ASSIGN(const Representation as,
            representation_of(request, look, target.query, Endpoint::object));
  KW_ASSIGN(WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  ObjectPtr object;
  if (reading) {
    KW_TRY(check_read_version(target.query, storage_.version()));
    KW_ASSIGN(object, writer_.live(context));
    const std::string path = scale_paths(resource).spec;
    if (resource.custom && core::find_at(object->json(), path).empty()) {
      return internal_error(fmt::format("the spec replicas field \"{}\" does not exist", path));
    }
  } else {
    auto written = write_scale(request, context, shape);
    warnings_ = *context.warnings;
    KW_TRY(written);
    object = std::move(*written);
  }
  return Reply{text_response(as, object_text(look, as, Object(scale_of(resource, *object)), now)),
               nullptr};
}

}  // namespace kubewatch::apiserver
