#include "crdgen/untagged_union.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/strings.hpp"
#include "crdgen/immutable.hpp"
#include "crdgen/type_expander.hpp"
#include "schema/cel_types.hpp"

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
  return schema.size() == 2 && base::string_at(schema, {"type"}) == "string" &&
         schema.contains("enum");
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

// The rule, where the fields that are there say that it is this alternative. "" where it cannot be.
std::string guarded(const std::string& rule, const Json& own) {
  std::vector<std::string> terms;
  for (const Json& name : own) {
    const auto in_cel = schema::escape_name(name.get<std::string>());
    if (!in_cel) return "";
    terms.push_back(fmt::format("has(self.{})", *in_cel));
  }
  // Of another alternative, oldSelf would lack the fields that the rule reads.
  if (rule.find("oldSelf") != std::string::npos) return "";
  const std::string end = rule.find("//") == std::string::npos ? ")" : "\n)";
  return fmt::format("!({}) || ({}{}", base::join(terms, " && "), rule, end);
}

// Another alternative would do away with them.
void keep_immutable_fields(const std::vector<Json>& alternatives, Json& into) {
  for (const auto& [name, property] : into["properties"].items()) {
    const bool always =
        std::all_of(alternatives.begin(), alternatives.end(),
                    [&name = name](const Json& one) { return always_there(one, name); });
    if (!always) add_keep_rule(into, name);
  }
}

// What the alternative says beside its fields, into its branch of oneOf or into the whole. "" or
// what has no place in either; texts about the alternative are left out.
std::string take_over(const Json& one, const Json& own, Json& branch, Json& into) {
  for (const auto& [key, value] : one.items()) {
    if (key == "x-kubernetes-validations") {
      for (Json rule : value) {
        if (is_keep_rule(rule)) continue;  // said of the whole already
        const std::string text = guarded(base::string_at(rule, {"rule"}), own);
        if (text.empty()) return "has a rule that cannot be said of it alone";
        rule["rule"] = text;
        into[key].push_back(std::move(rule));
      }
    } else if (key == "oneOf" || key == "anyOf" || key == "allOf" || key == "not" ||
               key == "minProperties" || key == "maxProperties") {
      branch[key] = value;
    } else if (key == "x-kubernetes-preserve-unknown-fields") {
      into[key] = value;
    } else if (key != "type" && key != "properties" && key != "required" && key != "description" &&
               key != "title" && key != "example" && key != "externalDocs") {
      return "says " + key + ", which oneOf has no place for";
    }
  }
  return "";
}

// "" and the schema, or why the alternatives cannot be one object.
std::string hoist(const std::vector<Json>& alternatives, Json& into) {
  for (const Json& one : alternatives) {
    if (base::string_at(one, {"type"}) != "object" || !one.contains("properties")) {
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
  keep_immutable_fields(alternatives, into);
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (own_required(alternatives, i).empty()) {
      return fmt::format(
          "alternative {} requires no field that the others lack, so that nothing "
          "tells it apart",
          i + 1);
    }
    Json branch = {{"required", alternatives[i]["required"]}};
    const std::string lost =
        take_over(alternatives[i], own_required(alternatives, i), branch, into);
    if (!lost.empty()) return fmt::format("alternative {} {}", i + 1, lost);
    into["oneOf"].push_back(std::move(branch));
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
