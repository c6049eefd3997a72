#include "crdgen/untagged_union.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "crdgen/type_expander.hpp"

namespace kubewatch::crdgen {

namespace {

bool is_bare(const Json& schema, const std::string& type) {
  for (const auto& [key, value] : schema.items()) {
    if (key == "format" && type == "integer") continue;
    if (key != "type" || value != type) return false;
  }
  return !schema.empty();
}

bool any_is_bare(const std::vector<Json>& all, const std::string& type) {
  return std::any_of(all.begin(), all.end(), [&](const Json& one) { return is_bare(one, type); });
}

bool is_enum_of_texts(const Json& schema) {
  return schema.size() == 2 && schema.value("type", "") == "string" && schema.contains("enum");
}

Json merged_enum(const std::vector<Json>& alternatives) {
  Json values = Json::array();
  for (const Json& one : alternatives) {
    for (const Json& value : one["enum"]) {
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
  }
  return {{"type", "string"}, {"enum", values}};
}

// The fields that an alternative requires and no other one has; they tell it from the others.
Json own_required(const std::vector<Json>& alternatives, std::size_t index) {
  Json out = Json::array();
  for (const Json& name : alternatives[index].value("required", Json::array())) {
    bool shared = false;
    for (std::size_t i = 0; i < alternatives.size(); ++i) {
      shared =
          shared || (i != index && alternatives[i]["properties"].contains(name.get<std::string>()));
    }
    if (!shared) out.push_back(name);
  }
  return out;
}

// "" and the schema, or why the alternatives cannot be one object.
std::string hoist(const std::vector<Json>& alternatives, Json& into) {
  for (const Json& one : alternatives) {
    if (one.value("type", "") != "object" || !one.contains("properties")) {
      return "not all alternatives are objects with fields";
    }
  }
  into = {{"type", "object"}};
  for (const Json& one : alternatives) {
    for (const auto& [name, property] : one["properties"].items()) {
      const auto [at, added] = into["properties"].emplace(name, property);
      if (!added && *at != property) {
        return fmt::format("field \"{}\" has different types in the alternatives", name);
      }
    }
  }
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (own_required(alternatives, i).empty()) {
      return fmt::format(
          "alternative {} requires no field that the others lack, so that nothing "
          "tells it apart",
          i + 1);
    }
    into["oneOf"].push_back({{"required", alternatives[i]["required"]}});
  }
  return "";
}

}  // namespace

UnionSchema untagged_union(const std::vector<Json>& alternatives) {
  if (alternatives.size() == 2 && any_is_bare(alternatives, "integer") &&
      any_is_bare(alternatives, "string")) {
    return {{{"anyOf", {{{"type", "integer"}}, {{"type", "string"}}}},
             {"x-kubernetes-int-or-string", true}},
            "an integer or a string: int-or-string, the one union of scalars that a structural "
            "schema has"};
  }
  if (std::all_of(alternatives.begin(), alternatives.end(), is_enum_of_texts)) {
    return {merged_enum(alternatives), "enums of texts: one enum with the values of all"};
  }
  Json hoisted;
  const std::string why_not = hoist(alternatives, hoisted);
  if (why_not.empty()) {
    return {std::move(hoisted),
            "objects that required fields tell apart: oneOf, with the properties of all of them "
            "at the top, where a structural schema wants them"};
  }
  return {{{"x-kubernetes-preserve-unknown-fields", true}},
          "anything is kept, nothing is checked: " + why_not};
}

}  // namespace kubewatch::crdgen
