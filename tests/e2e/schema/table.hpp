// The tables crds.yaml, types.yaml, objects.yaml and updates.yaml, for the unit tests of lib/schema
// and the cases of both servers: one truth for all of them.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "schema/patch.hpp"

namespace kubewatch::tables {

inline Json read(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  auto documents = base::parse_yaml_values(text.str());
  return documents && !documents->empty() ? documents->front() : Json();
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The definition of a case of crds.yaml.
inline Json crd_of(const Json& base, const Json& one) {
  Json crd = base;
  const auto merge = [&](Json& into, const char* key) {
    if (one.contains(key)) into = schema::merge_patch(into, one.at(key));
  };
  merge(crd["metadata"], "metadata");
  Json& version = crd["spec"]["versions"][0];
  Json& root = version["schema"]["openAPIV3Schema"];
  merge(root, "root");
  if (one.contains("s")) {
    Json& spec = root["properties"]["spec"];
    spec = schema::merge_patch(spec, one.at("s"));
  }
  if (one.contains("v")) root["properties"]["spec"]["properties"]["v"] = one.at("v");
  merge(version, "version");
  if (one.contains("patch")) crd = schema::json_patch(crd, one.at("patch")).value();
  merge(crd["spec"], "spec");
  return crd;
}

inline std::string crd_field(const Json& one) {
  const std::string root = "spec.validation.openAPIV3Schema";
  std::string field = one.at("field").get<std::string>();
  field = replaced(field, "@R", root);
  field = replaced(field, "@S", root + ".properties[spec]");
  return replaced(field, "@V", root + ".properties[spec].properties[v]");
}

// The TypeDefinitions of a case of types.yaml, as text.
inline std::string types_text(const Json& table, const Json& one) {
  const Json spec = schema::merge_patch(table.at("base"), one.value("spec", Json::object()));
  return base::dump_json(
      {{"apiVersion", "kubewatch.dev/v1"}, {"kind", "TypeDefinitions"}, {"spec", spec}});
}

// The definition that all objects of objects.yaml are of; each `fields` a field of spec.
inline Json subject_crd(const Json& table) {
  const Json& kind = table.at("kind");
  const std::string plural = kind.at("plural");
  const std::string group = kind.at("group");
  const Json status = {{"type", "object"}, {"properties", {{"replicas", {{"type", "integer"}}}}}};
  const Json schema = {
      {"type", "object"},
      {"properties",
       {{"spec", {{"type", "object"}, {"properties", table.at("fields")}}}, {"status", status}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names", {{"plural", plural}, {"kind", kind.at("kind")}}},
            {"versions", Json::array({{{"name", kind.at("version")},
                                       {"served", true},
                                       {"storage", true},
                                       {"subresources", {{"scale", table.at("scale")}}},
                                       {"schema", {{"openAPIV3Schema", schema}}}}})}}}};
}

// The definition that all objects of updates.yaml are of, while its schema is `loose` or `tight`.
inline Json change_crd(const Json& table, const char* which) {
  Json fields = table.at("loose");
  for (const auto& [name, field] : table.at(which).items()) fields[name] = field;
  Json crd = subject_crd(
      {{"kind", table.at("kind")},
       {"fields", fields},
       {"scale",
        {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}});
  Json& version = crd["spec"]["versions"][0];
  version["subresources"]["status"] = Json::object();
  version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["phase"] = {
      {"type", "string"}};
  return crd;
}

// What is there before the update of a case of updates.yaml.
inline Json before_of(const Json& table, const Json& one, const std::string& name) {
  const Json& kind = table.at("kind");
  Json object = {{"apiVersion", kind.at("group").get<std::string>() + "/" +
                                    kind.at("version").get<std::string>()},
                 {"kind", kind.at("kind")},
                 {"metadata", {{"name", name}}},
                 {"spec", one.at("old")}};
  if (one.value("dying", false)) object["metadata"]["finalizers"] = {"e2e.kubewatch.dev/hold"};
  return object;
}

inline Json object_of(const Json& table, const Json& one) {
  const Json& kind = table.at("kind");
  Json object = {{"apiVersion", kind.at("group").get<std::string>() + "/" +
                                    kind.at("version").get<std::string>()},
                 {"kind", kind.at("kind")},
                 {"metadata", {{"name", "subject"}}},
                 {"spec", one.value("spec", Json::object())}};
  if (one.contains("v")) object["spec"][one.at("field").get<std::string>()] = one.at("v");
  if (one.contains("object")) object = schema::merge_patch(object, one.at("object"));
  return object;
}

inline std::string object_field(const Json& one) {
  return replaced(one.at("at").get<std::string>(), "@V",
                  "spec." + one.value("field", std::string()));
}

}  // namespace kubewatch::tables
