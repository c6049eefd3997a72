// OpenAPI v3 of one group version: the operations that kubectl looks for before it validates and
// applies, and the schemas of custom kinds for `kubectl explain`. Of built-in kinds no more is said
// than what all kinds have.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/discovery.hpp"
#include "apiserver/openapi_types.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kMetadataText = "What all persisted objects say about themselves.";

Json gvk_json(const core::Gvk& gvk) {
  return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}};
}

// "dev.kubewatch.demo.v1.Website".
std::string schema_name(const core::Gvk& gvk) {
  std::vector<std::string> parts = base::split(gvk.group, '.');
  std::reverse(parts.begin(), parts.end());
  const std::string group = gvk.group.empty() ? "core" : base::join(parts, ".");
  return fmt::format("{}.{}.{}", group, gvk.version, gvk.kind);
}

std::string reference_to(const core::Gvk& gvk) {
  return "#/components/schemas/" + schema_name(gvk);
}

core::Gvk list_gvk(const Resource& resource) {
  return {resource.type.gvk.group, resource.type.gvk.version, resource.list_kind};
}

Json parameter(const char* in, const char* name) {
  Json out = {{"name", name}, {"in", in}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
  if (std::string_view(in) == "path") out["required"] = true;
  return out;
}

Json content_of(const std::string& reference) {
  const Json schema = {{"schema", {{"$ref", reference}}}};
  return {{"application/json", schema}, {"application/yaml", schema}};
}

// `reference`: what is answered.
Json operation(const core::Gvk& gvk, std::string_view action, const std::string& reference) {
  Json out = {
      {"x-kubernetes-group-version-kind", gvk_json(gvk)},
      {"x-kubernetes-action", action},
      {"responses", {{"200", {{"description", "OK"}, {"content", content_of(reference)}}}}}};
  if (action == "get" || action == "list") return out;
  Json& parameters = out["parameters"] = Json::array({parameter("query", "dryRun")});
  if (action == "delete" || action == "deletecollection") {
    parameters.push_back(parameter("query", "propagationPolicy"));
    return out;
  }
  parameters.push_back(parameter("query", "fieldManager"));
  parameters.push_back(parameter("query", "fieldValidation"));
  if (action == "patch") {
    parameters.push_back(parameter("query", "force"));
    return out;
  }
  out["requestBody"] = {{"content", content_of(reference)}, {"required", true}};
  return out;
}

Json patch_operation(const core::Gvk& gvk, const std::string& reference) {
  Json out = operation(gvk, "patch", reference);
  Json& content = out["requestBody"]["content"];
  for (const char* type : {"application/apply-patch+yaml", "application/json-patch+json",
                           "application/merge-patch+json"}) {
    content[type] = {{"schema", {{"$ref", shared_type_reference("Patch")}}}};
  }
  // Without a strategic type kubectl falls back to what it has compiled in, or to a merge patch.
  return out;
}

void add_embedded(Json& schema);

// apiVersion, kind and metadata, whatever the definition says of them.
void add_object_properties(Json& schema) {
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  add_type_properties(properties);
  properties["metadata"] = reference_schema(shared_type_reference("ObjectMeta"), kMetadataText);
}

void add_embedded_below(Json& schema) {
  if (const auto it = schema.find("properties"); it != schema.end() && it->is_object()) {
    for (auto& [key, below] : it->items()) add_embedded(below);
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (const auto it = schema.find(key); it != schema.end()) add_embedded(*it);
  }
}

// Embedded objects have what objects have, without saying so.
void add_embedded(Json& schema) {
  if (!schema.is_object()) return;
  add_embedded_below(schema);
  if (schema.value("x-kubernetes-embedded-resource", Json()) != true) return;
  add_object_properties(schema);
  Json& required = schema["required"];
  if (!required.is_array()) required = Json::array();
  for (const char* key : {"kind", "apiVersion"}) {
    if (std::find(required.begin(), required.end(), key) == required.end()) required.push_back(key);
  }
}

Json schema_of(const Resource& resource) {
  Json schema = resource.custom ? resource.custom->schema : Json{{"type", "object"}};
  add_embedded_below(schema);
  add_object_properties(schema);
  schema["x-kubernetes-group-version-kind"] = Json::array({gvk_json(resource.type.gvk)});
  return schema;
}

Json list_schema(const Resource& resource) {
  const auto& gvk = resource.type.gvk;
  Json out = {{"type", "object"},
              {"description", fmt::format("{} is a list of {}", resource.list_kind, gvk.kind)},
              {"required", Json::array({"items"})},
              {"x-kubernetes-group-version-kind", Json::array({gvk_json(list_gvk(resource))})}};
  Json& properties = out["properties"];
  add_type_properties(properties);
  properties["metadata"] =
      reference_schema(shared_type_reference("ListMeta"), "What lists say about themselves.");
  properties["items"] = {{"type", "array"},
                         {"description", fmt::format("List of {}.", resource.type.plural)},
                         {"items", {{"$ref", reference_to(gvk)}}}};
  return out;
}

// Status and scale, and whatever else shows the object itself.
void add_subresource_paths(const Resource& resource, const std::string& object, Json& paths) {
  const auto& gvk = resource.type.gvk;
  for (const auto& sub : resource.type.subresources) {
    const bool scale = sub.name == "scale" && sub.kind.kind == "Scale";
    if (!scale && sub.kind != gvk) continue;
    // Of a custom resource's scale the server names the kind of the resource.
    const core::Gvk& told = resource.custom ? gvk : sub.kind;
    const std::string shown = scale ? shared_type_reference("Scale") : reference_to(gvk);
    Json& path = paths[object + "/" + sub.name];
    for (const auto& verb : sub.verbs) {
      if (verb == "get") path["get"] = operation(told, "get", shown);
      if (verb == "update") path["put"] = operation(told, "put", shown);
      if (verb == "patch") path["patch"] = patch_operation(told, shown);
    }
  }
}

void add_paths(const Resource& resource, const std::string& root, Json& paths) {
  const auto& gvk = resource.type.gvk;
  const std::string shown = reference_to(gvk);
  const std::string listed = reference_to(list_gvk(resource));
  const std::string status = shared_type_reference("Status");
  const std::string everywhere = root + resource.type.plural;
  std::string collection = everywhere;
  Json parameters = Json::array();
  if (resource.type.namespaced) {
    paths[everywhere] = {{"get", operation(gvk, "list", listed)}};
    collection = root + "namespaces/{namespace}/" + resource.type.plural;
    parameters.push_back(parameter("path", "namespace"));
  }
  paths[collection] = {{"get", operation(gvk, "list", listed)},
                       {"post", operation(gvk, "post", shown)},
                       {"delete", operation(gvk, "deletecollection", status)},
                       {"parameters", parameters}};
  parameters.push_back(parameter("path", "name"));
  const std::string object = collection + "/{name}";
  Json of_object = {{object,
                     {{"get", operation(gvk, "get", shown)},
                      {"put", operation(gvk, "put", shown)},
                      {"patch", patch_operation(gvk, shown)},
                      {"delete", operation(gvk, "delete", status)}}}};
  add_subresource_paths(resource, object, of_object);
  for (auto& [path, operations] : of_object.items()) {
    operations["parameters"] = parameters;
    paths[path] = std::move(operations);
  }
}

}  // namespace

Json openapi_document(const Registry& registry, const std::string& group,
                      const std::string& version) {
  Json paths = Json::object();
  Json schemas = Json::object();
  bool scale = false;
  const std::string root =
      group.empty() ? "/api/" + version + "/" : "/apis/" + group + "/" + version + "/";
  for (const auto& resource : registry.all()) {
    const auto& gvk = resource->type.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    add_paths(*resource, root, paths);
    schemas[schema_name(gvk)] = schema_of(*resource);
    schemas[schema_name(list_gvk(*resource))] = list_schema(*resource);
    scale = scale || resource->type.has_subresource("scale");
  }
  schemas.update(shared_type_schemas(scale));
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "kubewatch sandbox"}, {"version", "v1.36.3"}}},
          {"paths", paths},
          {"components", {{"schemas", schemas}}}};
}

}  // namespace kubewatch::apiserver
