// The patch half of writer.hpp: JSON patch, merge patch, strategic merge patch, server-side apply.
#include <fmt/format.h>

#include "apiserver/convert.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/strategy.hpp"
#include "apiserver/writer.hpp"
#include "schema/managed_fields.hpp"
#include "schema/patch.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

Error patch_refused(const Error& error) {
  if (error.kind() == ErrorKind::too_large) {
    return api_error(413, "RequestEntityTooLarge", error.message(), std::nullopt);
  }
  return api_error(422, "Invalid", "the server rejected our request due to an error in our request",
                   Json::object());
}

Result<Json> patched(const Resource& resource, core::PatchType type, const Json& live,
                     const Json& patch) {
  if (type == core::PatchType::json) {
    if (!patch.is_array()) {
      return bad_request(
          fmt::format("error decoding patch: json: cannot unmarshal {} into Go "
                      "value of type []handlers.jsonPatchOp",
                      patch.type_name()));
    }
    auto result = schema::json_patch(live, patch);
    if (!result) return patch_refused(result.error());
    return result;
  }
  if (!patch.is_object()) {
    return bad_request(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value "
                    "of type map[string]interface {{}}",
                    patch.type_name()));
  }
  if (type == core::PatchType::merge) return schema::merge_patch(live, patch);
  auto result = schema::strategic_patch(live, patch, resource.merge);
  if (!result) return bad_request(result.error().message());
  return result;
}

std::string go_kind(const Json& object) {
  const std::string version = string_at(object, {"apiVersion"});
  const bool core = version.find('/') == std::string::npos;
  return fmt::format("{}{}, Kind={}", core ? "/" : "", version, string_at(object, {"kind"}));
}

// `configuration` as it was sent.
std::string typed_patch_of(const Json& configuration) {
  return fmt::format("failed to create typed patch object ({}/{}; {}): ",
                     string_at(configuration, {"metadata", "namespace"}),
                     string_at(configuration, {"metadata", "name"}), go_kind(configuration));
}

Result<void> check_configuration(const WriteContext& context, const Json& configuration) {
  const auto& gvk = context.resource->type.gvk;
  if (!configuration.is_object()) return bad_request("error decoding YAML: not an object");
  if (string_at(configuration, {"apiVersion"}) != gvk.api_version() ||
      string_at(configuration, {"kind"}) != gvk.kind) {
    return bad_request("invalid object type: " + go_kind(configuration));
  }
  const Json* managed = base::find(configuration, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null()) {
    return bad_request("metadata.managedFields must be nil");
  }
  return {};
}

// What comes out of a patch and is no object of its kind is the patch's fault: 422, and not 400.
Error as_patch_error(const Error& error, const std::string& patched) {
  const auto why = why_undecodable(error);
  if (!why) return error;
  return invalid({"", "", ""}, {field_invalid("patch", base::dump_json(Json(patched)), *why)});
}

}  // namespace

Result<Written> Writer::patch(const WriteContext& context, core::PatchType type, const Json& body) {
  const Resource& resource = *context.resource;
  KW_ASSIGN(const ObjectPtr now, live(context));
  const Json before = to_served(resource, now->json());
  KW_ASSIGN(Json object, patched(resource, type, before, body));
  std::vector<std::string> warnings;
  auto decoded = decode(context, std::move(object), warnings);
  if (!decoded) {
    // A Secret is not shown to who only patched a part of it.
    const bool secret = resource.storage_id == "secrets";
    const auto again = patched(resource, type, before, body);
    return as_patch_error(decoded.error(), secret || !again ? "" : base::dump_json(again.value()));
  }
  object = std::move(*decoded);
  const std::string name = string_at(object, {"metadata", "name"});
  if (name != context.name) {
    return wrong_name(name, context.name);
  }
  KW_TRY(check_version(context, *now, string_at(object, {"metadata", "resourceVersion"})));
  KW_ASSIGN(Written written, commit_update(context, now, std::move(object), false));
  written.warnings = std::move(warnings);
  return written;
}

Result<Written> Writer::apply(const WriteContext& context, Json configuration) {
  const Resource& resource = *context.resource;
  KW_TRY(check_configuration(context, configuration));
  const std::string refused = typed_patch_of(configuration);
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(resource, configuration, unknown));
  const auto found = live(context);
  if (!found && !context.subresource.empty()) return found.error();
  Json& metadata = configuration["metadata"];
  const std::string uid = string_at(metadata, {"uid"});
  const std::string version = string_at(metadata, {"resourceVersion"});
  if (!found && !uid.empty()) {
    return conflict(resource.subject(context.name),
                    fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                "existing object was found",
                                uid));
  }
  if (found && !version.empty() && version != std::to_string(found.value()->version())) {
    return modified(resource.subject(context.name));
  }
  if (!found) metadata.erase("resourceVersion");
  if (string_at(metadata, {"name"}).empty()) metadata["name"] = context.name;
  if (string_at(metadata, {"namespace"}).empty() && resource.type.namespaced) {
    metadata["namespace"] = context.namespace_;
  }
  Json before;
  if (found) before = to_served(resource, found.value()->json());
  schema::ApplyRequest request;
  request.live = found ? &before : nullptr;
  request.applied = configuration;
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.force = context.force;
  request.told_version = context.told_version;
  request.schema = resource.merge;
  request.ignored = ignored_fields(resource, found ? before : configuration, context.subresource);
  request.now = context.now;
  auto outcome = schema::apply(request);
  if (!outcome) return internal_error(refused + outcome.error().message());
  if (!outcome->conflicts.empty()) {
    return error_from_status(schema::conflict_status(outcome->conflicts));
  }
  if (resource.storage_id == kCrds) {
    const bool versions = base::find(configuration, {"spec", "versions"}) != nullptr;
    keep_status_subresources(versions ? configuration : before, outcome->object);
  }
  if (found && !outcome->changed) return Written{found.value(), false, {}};
  std::vector<std::string> warnings;
  Json managed = outcome->object.at("metadata").value("managedFields", Json());
  KW_ASSIGN(Json object, decode(context, std::move(outcome->object), warnings));
  if (!managed.is_null()) object["metadata"]["managedFields"] = std::move(managed);
  const std::string name = string_at(object, {"metadata", "name"});
  if (name != context.name) {
    return wrong_name(name, context.name);
  }
  return found ? commit_update(context, found.value(), std::move(object), true)
               : commit_create(context, std::move(object), true);
}

}  // namespace kubewatch::apiserver
