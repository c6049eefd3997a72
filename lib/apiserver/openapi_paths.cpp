#include "apiserver/openapi_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/openapi_types.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

// Of a verb that discovery names: the method, and how documents call what it does.
struct Action {
  const char* verb;
  const char* method;
  const char* name;
};
constexpr Action kOnCollection[] = {{"list", "get", "list"},
                                    {"create", "post", "post"},
                                    {"deletecollection", "delete", "deletecollection"}};
constexpr Action kOnObject[] = {{"get", "get", "get"},
                                {"update", "put", "put"},
                                {"patch", "patch", "patch"},
                                {"delete", "delete", "delete"}};
constexpr Action kOnSubresource[] = {{"get", "get", "get"},
                                     {"update", "put", "put"},
                                     {"patch", "patch", "patch"},
                                     {"create", "post", "post"}};

Json parameter(const char* in, const char* name, const char* type = "string") {
  Json out = {{"name", name}, {"in", in}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  if (std::string_view(in) == "path") out["required"] = true;
  return out;
}

class PathWriter {
 public:
  PathWriter(const Resource& resource, const BuiltinTypes& types)
      : resource_(resource), types_(types) {}

  void add(const std::string& root, Json& paths) const;

 private:
  Json schema_of(const core::Gvk& gvk) const {
    return {{"$ref", reference_to(schema_name(gvk, types_))}};
  }
  static Json shared(const char* type) { return {{"$ref", reference_to(shared_type_name(type))}}; }
  // Built-in kinds are read in any form, among them protobuf.
  Json body(const Json& schema) const {
    const Json one = {{"schema", schema}};
    if (!resource_.custom) return {{"content", {{"*/*", one}}}};
    return {{"content", {{"application/json", one}, {"application/yaml", one}}}};
  }

  Json operation(const core::Gvk& gvk, std::string_view action, const Json& answer) const;
  Json patches() const;
  void add_subresources(const std::string& object, Json& paths) const;

  const Resource& resource_;
  const BuiltinTypes& types_;
};

// `answer`: the schema of what is answered, and of what is sent.
Json PathWriter::operation(const core::Gvk& gvk, std::string_view action,
                           const Json& answer) const {
  const Json content = {{"schema", answer}};
  Json out = {{"x-kubernetes-group-version-kind",
               {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}}},
              {"x-kubernetes-action", action},
              {"responses",
               {{"200",
                 {{"description", "OK"},
                  {"content", {{"application/json", content}, {"application/yaml", content}}}}}}}};
  if (action == "get" || action == "list") return out;
  if (action == "deletecollection" && resource_.custom) return out;  // as the server tells it
  Json& parameters = out["parameters"] = Json::array({parameter("query", "dryRun")});
  if (action == "delete" || action == "deletecollection") {
    parameters.push_back(parameter("query", "propagationPolicy"));
    out["requestBody"] = body(shared("DeleteOptions"));
    return out;
  }
  parameters.push_back(parameter("query", "fieldManager"));
  parameters.push_back(parameter("query", "fieldValidation"));
  if (action == "patch") parameters.push_back(parameter("query", "force", "boolean"));
  out["requestBody"] = action == "patch" ? patches() : body(answer);
  out["requestBody"]["required"] = true;
  return out;
}

Json PathWriter::patches() const {
  Json out;
  std::vector<const char*> types = {"application/apply-patch+yaml", "application/json-patch+json",
                                    "application/merge-patch+json"};
  // Where kubectl does not find it, it does not ask the schema how lists merge.
  if (!resource_.custom) types.push_back("application/strategic-merge-patch+json");
  for (const char* type : types) out["content"][type] = {{"schema", shared("Patch")}};
  return out;
}

void PathWriter::add_subresources(const std::string& object, Json& paths) const {
  const auto& gvk = resource_.type.gvk;
  for (const auto& sub : resource_.type.subresources) {
    const bool text = sub.name == "log";
    // What is connected to has options for a kind, which no document describes.
    if (!resource_.custom && types_.name_of(sub.kind).empty()) continue;
    // Of a custom resource's scale the server names the kind of the resource.
    const core::Gvk& told = resource_.custom ? gvk : sub.kind;
    const Json shown = text ? Json{{"type", "string"}} : schema_of(sub.kind);
    for (const Action& action : kOnSubresource) {
      if (std::find(sub.verbs.begin(), sub.verbs.end(), action.verb) == sub.verbs.end()) continue;
      paths[object + "/" + sub.name][action.method] = operation(told, action.name, shown);
    }
  }
}

void PathWriter::add(const std::string& root, Json& paths) const {
  const core::ResourceType& type = resource_.type;
  const std::string everywhere = root + type.plural;
  const std::string collection =
      type.namespaced ? root + "namespaces/{namespace}/" + type.plural : everywhere;
  const std::string object = collection + "/{name}";
  const Json own = schema_of(type.gvk);
  const Json listed = schema_of(list_gvk(resource_));
  Json mine = Json::object();
  for (const Action& action : kOnCollection) {
    if (!type.has_verb(action.verb)) continue;
    const std::string_view name = action.name;
    const Json& answer = name == "list" ? listed : name == "post" ? own : shared("Status");
    mine[collection][action.method] = operation(type.gvk, name, answer);
  }
  for (const Action& action : kOnObject) {
    if (!type.has_verb(action.verb)) continue;
    const bool gone = std::string_view(action.name) == "delete";
    mine[object][action.method] = operation(type.gvk, action.name, gone ? shared("Status") : own);
  }
  add_subresources(object, mine);
  for (auto& [path, operations] : mine.items()) {
    Json& parameters = operations["parameters"] = Json::array();
    if (type.namespaced) parameters.push_back(parameter("path", "namespace"));
    if (path.starts_with(object)) parameters.push_back(parameter("path", "name"));
    paths[path] = std::move(operations);
  }
  if (type.namespaced && type.has_verb("list")) {
    paths[everywhere] = {{"get", operation(type.gvk, "list", listed)}};
  }
}

}  // namespace

std::string schema_name(const core::Gvk& gvk, const BuiltinTypes& types) {
  if (std::string name = types.name_of(gvk); !name.empty()) return name;
  std::vector<std::string> parts = base::split(gvk.group, '.');
  std::reverse(parts.begin(), parts.end());
  return fmt::format("{}.{}.{}", base::join(parts, "."), gvk.version, gvk.kind);
}

core::Gvk list_gvk(const Resource& resource) {
  return {resource.type.gvk.group, resource.type.gvk.version, resource.list_kind};
}

void add_paths(const Resource& resource, const std::string& root, const BuiltinTypes& types,
               Json& paths) {
  PathWriter(resource, types).add(root, paths);
}

void add_discovery_path(const std::string& root, Json& paths) {
  const Json content = {{"schema", {{"$ref", reference_to(shared_type_name("APIResourceList"))}}}};
  paths[root]["get"]["responses"]["200"] = {
      {"description", "OK"},
      {"content", {{"application/json", content}, {"application/yaml", content}}}};
}

}  // namespace kubewatch::apiserver
