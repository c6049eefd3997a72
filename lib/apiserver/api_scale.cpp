// The scale subresource: how many replicas an object wants, read and written as a Scale of
// autoscaling/v1, which is stored nowhere.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "apiserver/api_target.hpp"
#include "apiserver/body_kind.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/scale_owners.hpp"
#include "base/strings.hpp"
#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "core/json_path.hpp"
#include "schema/managed_entries.hpp"
#include "schema/managed_fields.hpp"
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

// Fields that a Scale lacks are told or refused, and so are values of other types.
Result<Json> decode_scale(const WriteContext& as_scale, Json scale) {
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(*as_scale.resource, scale, unknown));
  static const builtin::WireType& type = *builtin::wire_type_of(kScaleVersion, "Scale");
  if (const auto why = builtin::why_undecoded(type, scale)) {
    return undecodable(as_scale.resource->type.gvk, *why);
  }
  builtin::drop_unknown(type, scale, unknown);
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
  KW_TRY(check_body_kind(*as_scale.resource, scale));
  return decode_scale(as_scale, std::move(scale));
}

// The server writes anew what a patch touches: the rest stays in the order of its type.
std::string shown_scale(core::PatchType type, const Json& live, const Json& patch,
                        const Json& scale) {
  const Json* metadata = base::find(scale, {"metadata"});
  const bool touched = metadata == nullptr || *metadata != live.at("metadata");
  if (touched || type == core::PatchType::strategic) return shown_patch(type, patch, scale);
  std::vector<std::string> members;
  for (const auto& [key, value] : scale.items()) {
    const bool ordered = key == "metadata";
    members.push_back(fmt::format("{}:{}", base::json_quoted(key),
                                  ordered ? metadata_text(value) : base::dump_json(value)));
  }
  return "{" + base::join(members, ",") + "}";
}

Result<Json> patched_scale(const WriteContext& as_scale, core::PatchType type, const Json& live,
                           const Json& patch) {
  KW_ASSIGN(Json scale, patched(*as_scale.resource, type, live, patch));
  const std::string shown = shown_scale(type, live, patch, scale);
  if (type != core::PatchType::strategic) {
    KW_TRY(check_patched_type(as_scale, scale, [&] { return shown; }));
  }
  auto decoded = decode_scale(as_scale, std::move(scale));
  return decoded ? std::move(decoded) : Result<Json>(as_patch_error(decoded.error(), shown));
}

Result<void> check_place(const WriteContext& context, const Json& scale) {
  const std::string ns = string_at(scale, {"metadata", "namespace"});
  if (!ns.empty() && ns != context.namespace_) return wrong_namespace();
  return check_url_name(scale, context.name);
}

// What is asked for fits the object of the URL. Gives the replicas.
Result<std::int64_t> check_scale(const WriteContext& context, const Object& live, const Json& scale,
                                 bool patched) {
  const Resource& resource = *context.resource;
  if (patched) KW_TRY(check_place(context, scale));
  // Who says none wants none.
  const auto replicas = base::int_at(scale, {"spec", "replicas"}).value_or(0);
  // What a custom kind allows its own checks say.
  if (replicas < 0 && !resource.custom) {
    return invalid({"autoscaling", "Scale", context.name},
                   {field_invalid("spec.replicas", std::to_string(replicas),
                                  "must be greater than or equal to 0")});
  }
  const std::string uid = string_at(scale, {"metadata", "uid"});
  if (patched && !uid.empty() && uid != live.uid()) {
    const core::ResourceType& type = resource.type;
    return conflict(
        {type.gvk.group, type.plural + "/scale", context.name},
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    live.uid()));
  }
  KW_TRY(check_uid(context, live.uid(), scale));
  KW_ASSIGN(const std::uint64_t version, version_of(scale));
  if (version != 0 && version != live.version()) return modified(resource.subject(context.name));
  return replicas;
}

// By version of the resource, served or not.
ReplicaPaths replica_paths(const Storage& storage, const Resource& resource) {
  ReplicaPaths out;
  const std::string& group = resource.type.gvk.group;
  if (!resource.custom && group == "apps") {
    out["apps/v1beta2"] = replica_path(ScalePaths().spec);
    if (resource.type.plural != "replicasets") out["apps/v1beta1"] = out["apps/v1beta2"];
  }
  const ObjectPtr crd =
      resource.custom ? storage.get(kCrds, object_key("", resource.storage_id)) : nullptr;
  const Json* versions = crd ? base::find(crd->json(), {"spec", "versions"}) : nullptr;
  if (versions != nullptr && versions->is_array()) {
    for (const Json& version : *versions) {
      out[group + "/" + string_at(version, {"name"})] =
          replica_path(string_at(version, {"subresources", "scale", "specReplicasPath"}));
    }
  }
  out[resource.type.gvk.api_version()] = replica_path(scale_paths(resource).spec);
  return out;
}

// With those who own the replicas.
Result<Json> owned_scale(const Resource& resource, const Object& object,
                         const ReplicaPaths& paths) {
  Json scale = scale_of(resource, object);
  auto owners = owners_of_scale(schema::managed_fields_of(object.json()), paths);
  if (!owners) return internal_error(owners.error().message());
  if (!owners->is_null()) scale["metadata"]["managedFields"] = std::move(*owners);
  return scale;
}

schema::MergeNodePtr scale_schema() {
  using schema::MergeNode;
  static const schema::MergeNodePtr made = [] {
    const auto structure = [](std::map<std::string, schema::MergeNodePtr> fields) {
      auto node = std::make_shared<MergeNode>();
      node->kind = MergeNode::Kind::map;
      node->is_struct = true;
      node->fields = std::move(fields);
      return node;
    };
    auto number = std::make_shared<MergeNode>();
    number->kind = MergeNode::Kind::scalar;
    number->scalar = MergeNode::Scalar::numeric;
    // What all kinds have.
    auto fields = schema::builtin_merge_schema({"", "v1", "ConfigMap"})->fields;
    const auto text = fields.at("kind");
    return structure({{"apiVersion", text},
                      {"kind", text},
                      {"metadata", fields.at("metadata")},
                      {"spec", structure({{"replicas", number}})},
                      {"status", structure({{"replicas", number}, {"selector", text}})}});
  }();
  return made;
}

// An update of a Scale: no replicas are nothing to own.
Json tracked_scale(const WriteContext& context, const Json& before, std::int64_t replicas) {
  schema::UpdateRequest request;
  request.live = &before;
  request.updated = before;
  request.updated["spec"] = Json::object();
  if (replicas != 0) request.updated["spec"]["replicas"] = replicas;
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.schema = scale_schema();
  request.now = context.now;
  auto tracked = schema::track_update(request);
  if (!tracked) return before;
  return std::move(*tracked);
}

// What the real server says of a custom kind (1.36), whose Scale it fails to convert.
Error custom_unapplied(const std::string& what, const std::string& told) {
  return internal_error(
      fmt::format("{} {} to proper version: request to convert CR to an invalid group/version: "
                  "autoscaling/v1",
                  what, told));
}

// Server-side apply to a Scale; `before` has its owners, and so has what comes out.
Result<Json> applied_scale(const WriteContext& context, const Json& before, Json wanted) {
  const bool custom = context.resource->custom != nullptr;
  KW_TRY(check_configuration({"autoscaling", "v1", "Scale"}, wanted));
  if (custom && schema::managed_fields_of(before) == nullptr) {
    return custom_unapplied(
        "failed to create manager for existing fields: failed to convert live object",
        "(/; autoscaling/v1, Kind=Scale)");
  }
  if (wanted["metadata"].is_null()) wanted["metadata"] = Json::object();
  const std::string told = told_object(wanted);
  schema::ApplyRequest request;
  request.live = &before;
  request.applied = std::move(wanted);
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.force = context.force;
  request.schema = scale_schema();
  request.now = context.now;
  auto outcome = schema::apply(request);
  if (!outcome) {
    return internal_error(
        fmt::format("failed to create typed patch object {}: {}", told, outcome.error().message()));
  }
  if (!outcome->conflicts.empty()) {
    return error_from_status(schema::conflict_status(outcome->conflicts, outcome->untold));
  }
  if (custom) return custom_unapplied("failed to convert new object", told);
  if (const auto why = builtin::why_unconverted(outcome->object)) {
    return internal_error(
        fmt::format("failed to convert new object {} to proper version: unable to convert "
                    "unstructured object to autoscaling/v1, Kind=Scale: {}",
                    told, *why));
  }
  builtin::to_typed_form(outcome->object);
  return std::move(outcome->object);
}

}  // namespace

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
    KW_TRY(check_place(context, scale));
  }
  core::PatchType type = core::PatchType::json;
  if (request.method == "PATCH") {
    KW_ASSIGN(type, patch_type(request, resource));
  }
  KW_ASSIGN(const ObjectPtr live, writer_.live(context));
  const ReplicaPaths paths = replica_paths(storage_, resource);
  KW_ASSIGN(const Json before, owned_scale(resource, *live, paths));
  bool applied = false;
  if (request.method == "PATCH") {
    KW_ASSIGN(Json patch, parse_patch(as_scale, request.body, type));
    applied = type == core::PatchType::apply;
    if (applied) {
      KW_ASSIGN(scale, applied_scale(context, before, std::move(patch)));
    } else {
      KW_ASSIGN(scale, patched_scale(as_scale, type, before, patch));
    }
  }
  KW_ASSIGN(const std::int64_t replicas,
            check_scale(context, *live, scale, request.method == "PATCH"));
  const std::string said = string_at(scale, {"apiVersion"});
  const bool unnamed = request.method == "PUT" && (said.empty() || said == "/");
  Json tracked = applied ? std::move(scale) : tracked_scale(context, before, replicas);
  // As there (1.36): a custom kind's Scale is converted by what it says that it is. One that does
  // not say it is written all the same, and nobody owns its replicas then.
  if (unnamed && resource.custom) tracked["metadata"].erase("managedFields");
  auto owners =
      owners_with_scale(schema::managed_fields_of(live->json()), schema::managed_fields_of(tracked),
                        paths, resource.type.gvk.api_version());
  if (!owners) return internal_error(owners.error().message());
  WriteContext how = context;
  how.owners_known = true;
  KW_ASSIGN(ObjectPtr after, writer_.changed(how, [&](Json& object) {
    Json& metadata = object["metadata"];
    metadata.erase("managedFields");
    if (!owners->is_null()) metadata["managedFields"] = *owners;
    return core::set_at(object, scale_paths(resource).spec, replicas);
  }));
  return after ? after : live;
}

namespace {

Error no_replicas(const std::string& path) {
  const std::string why = fmt::format("the spec replicas field \"{}\" does not exist", path);
  return api_error(500, "InternalError", "Internal error occurred: " + why,
                   Json{{"causes", Json::array({{{"message", why}}})}});
}

}  // namespace

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
      return no_replicas(path);
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
