// OpenAPI v3 of one group version: the operations that kubectl looks for before it validates and
// applies, and the schemas of custom kinds for `kubectl explain`. Built-in kinds have no fields
// here.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/discovery.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

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

Json parameter(const char* name) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}};
}

Json operation(const core::Gvk& gvk, const char* action, const std::string& reference) {
  const Json content = {{"application/json", {{"schema", {{"$ref", reference}}}}}};
  Json out = {{"x-kubernetes-group-version-kind", gvk_json(gvk)},
              {"x-kubernetes-action", action},
              {"responses", {{"200", {{"description", "OK"}, {"content", content}}}}}};
  if (std::string_view(action) == "get" || std::string_view(action) == "list") return out;
  out["parameters"] =
      Json::array({parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")});
  return out;
}

Json patch_operation(const Resource& resource, const std::string& reference) {
  Json out = operation(resource.type.gvk, "patch", reference);
  Json& content = out["requestBody"]["content"];
  for (const char* type : {"application/apply-patch+yaml", "application/json-patch+json",
                           "application/merge-patch+json"}) {
    content[type] = {{"schema", {{"type", "object"}}}};
  }
  // Without a strategic type kubectl falls back to what it has compiled in, or to a merge patch.
  return out;
}

Json schema_of(const Resource& resource) {
  Json schema = resource.custom ? resource.custom->schema : Json{{"type", "object"}};
  schema["x-kubernetes-group-version-kind"] = Json::array({gvk_json(resource.type.gvk)});
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  properties["apiVersion"] = {{"type", "string"},
                              {"description", "The version of this representation."}};
  properties["kind"] = {{"type", "string"}, {"description", "The kind of this object."}};
  properties["metadata"] = {{"type", "object"}, {"description", "Standard object metadata."}};
  return schema;
}

}  // namespace

Json openapi_document(const Registry& registry, const std::string& group,
                      const std::string& version) {
  Json paths = Json::object();
  Json schemas = Json::object();
  const std::string root =
      group.empty() ? "/api/" + version + "/" : "/apis/" + group + "/" + version + "/";
  for (const auto& resource : registry.all()) {
    const auto& gvk = resource->type.gvk;
    if (gvk.group != group || gvk.version != version) continue;
    const std::string name = schema_name(gvk);
    const std::string reference = "#/components/schemas/" + name;
    const std::string collection =
        root + (resource->type.namespaced ? "namespaces/{namespace}/" : "") + resource->type.plural;
    paths[collection] = {{"get", operation(gvk, "list", reference)},
                         {"post", operation(gvk, "post", reference)}};
    paths[collection + "/{name}"] = {{"get", operation(gvk, "get", reference)},
                                     {"put", operation(gvk, "put", reference)},
                                     {"patch", patch_operation(*resource, reference)},
                                     {"delete", operation(gvk, "delete", reference)}};
    schemas[name] = schema_of(*resource);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "kubewatch sandbox"}, {"version", "v1.36.3"}}},
          {"paths", paths},
          {"components", {{"schemas", schemas}}}};
}

}  // namespace kubewatch::apiserver
