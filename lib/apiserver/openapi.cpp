// OpenAPI v3 of one group version: what can be asked for, and the schemas of all types that this
// names, for kubectl's validation, `apply` and `explain`. Those of built-in kinds are
// openapi_builtin's, those of custom kinds their definitions'.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/discovery.hpp"
#include "apiserver/openapi_paths.hpp"
#include "apiserver/openapi_types.hpp"
#include "apiserver/openapi_v2.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kMetadataText = "What all persisted objects say about themselves.";

Json gvk_json(const core::Gvk& gvk) {
  return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}};
}

void add_embedded(Json& schema, OpenApi of);

// apiVersion, kind and metadata, whatever the definition says of them.
void add_object_properties(Json& schema) {
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  add_type_properties(properties);
  properties["metadata"] =
      reference_schema(reference_to(shared_type_name("ObjectMeta")), kMetadataText);
}

void add_embedded_below(Json& schema, OpenApi of) {
  if (const auto it = schema.find("properties"); it != schema.end() && it->is_object()) {
    for (auto& [key, below] : it->items()) add_embedded(below, of);
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (const auto it = schema.find(key); it != schema.end()) add_embedded(*it, of);
  }
}

// Embedded objects have what objects have, without saying so. By v2 clients refuse all that is not
// among the fields, where there are any.
void add_embedded(Json& schema, OpenApi of) {
  if (!schema.is_object()) return;
  add_embedded_below(schema, of);
  if (of == OpenApi::v2 && base::bool_at(schema, {kKeepsUnknown})) return;
  if (schema.value("x-kubernetes-embedded-resource", Json()) != true) return;
  add_object_properties(schema);
  Json& required = schema["required"];
  if (!required.is_array()) required = Json::array();
  for (const char* key : {"kind", "apiVersion"}) {
    if (std::find(required.begin(), required.end(), key) == required.end()) required.push_back(key);
  }
}

Json custom_schema(const Resource& resource, OpenApi of) {
  Json schema = resource.custom->schema;
  if (of == OpenApi::v2 && base::bool_at(schema, {kKeepsUnknown})) {
    schema = {{"type", "object"}};
  } else {
    if (of == OpenApi::v2) to_openapi_v2(schema);
    add_embedded_below(schema, of);
    add_object_properties(schema);
  }
  schema[kKindsOf] = Json::array({gvk_json(resource.type.gvk)});
  return schema;
}

Json custom_list_schema(const Resource& resource, const std::string& item) {
  Json out = {{"type", "object"},
              {"description",
               fmt::format("{} is a list of {}", resource.list_kind, resource.type.gvk.kind)},
              {"required", Json::array({"items"})},
              {kKindsOf, Json::array({gvk_json(list_gvk(resource))})}};
  Json& properties = out["properties"];
  add_type_properties(properties);
  properties["metadata"] = reference_schema(reference_to(shared_type_name("ListMeta")),
                                            "What lists say about themselves.");
  properties["items"] = {{"type", "array"},
                         {"description", fmt::format("List of {}.", resource.type.plural)},
                         {"items", {{"$ref", reference_to(item)}}}};
  return out;
}

void add_custom_schemas(const Resource& resource, OpenApi of, const BuiltinTypes& types,
                        Json& schemas) {
  const std::string name = schema_name(resource.type.gvk, types);
  schemas[name] = custom_schema(resource, of);
  schemas[schema_name(list_gvk(resource), types)] = custom_list_schema(resource, name);
  for (const char* type : {"ObjectMeta", "ListMeta"}) types.add(shared_type_name(type), schemas);
}

// The built-in types that the operations name, and what those refer to.
void add_named_types(const Json& paths, const BuiltinTypes& types, Json& schemas) {
  for (const auto& [key, value] : paths.items()) {
    if (value.is_structured()) add_named_types(value, types, schemas);
    if (key == "$ref") {
      types.add(value.get<std::string>().substr(reference_to("").size()), schemas);
    }
  }
}

// DeleteOptions may be sent as a kind of every group version that takes them.
void add_own_kind(const core::GroupVersion& own, Json& schemas) {
  const auto options = schemas.find(shared_type_name("DeleteOptions"));
  if (options == schemas.end()) return;
  Json& kinds = (*options)[kKindsOf] = Json::array({gvk_json({"", "v1", "DeleteOptions"})});
  if (!own.group.empty()) kinds.push_back(gvk_json({own.group, own.version, "DeleteOptions"}));
}

}  // namespace

Json openapi_document(const Registry& registry, const std::string& group,
                      const std::string& version, OpenApi of) {
  const BuiltinTypes types;
  Json paths = Json::object();
  Json schemas = Json::object();
  const std::string root =
      group.empty() ? "/api/" + version + "/" : "/apis/" + group + "/" + version + "/";
  for (const auto& resource : registry.all()) {
    const auto& gvk = resource->type.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    add_paths(*resource, root, types, paths);
    if (resource->custom) {
      add_custom_schemas(*resource, of, types, schemas);
    } else {
      add_discovery_path(root, paths);
    }
  }
  add_named_types(paths, types, schemas);
  add_own_kind({group, version}, schemas);
  describe_types(schemas);
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "kubewatch sandbox"}, {"version", "v1.36.3"}}},
          {"paths", paths},
          {"components", {{"schemas", schemas}}}};
}

}  // namespace kubewatch::apiserver
