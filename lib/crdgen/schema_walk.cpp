#include "crdgen/schema_walk.hpp"

#include <string_view>

#include "base/json_pointer.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr int kWalkDepth = 200;

enum class Below { all, binding };

bool binds(std::string_view key) {
  return key != "not" && key != "anyOf" && key != "oneOf";
}

// F(child, step of the pointer) for each direct schema.
template <class AnyJson, class F>
void each_child(AnyJson& schema, Below which, const F& call) {
  if (!schema.is_object()) return;
  for (const char* key : {"items", "additionalProperties", "not"}) {
    if (which == Below::binding && !binds(key)) continue;
    if (const auto it = schema.find(key); it != schema.end() && it->is_object()) {
      call(*it, std::string("/") + key);
    }
  }
  if (const auto it = schema.find("properties"); it != schema.end() && it->is_object()) {
    for (auto member = it->begin(); member != it->end(); ++member) {
      call(*member, "/properties/" + base::escape_pointer(member.key()));
    }
  }
  for (const char* key : {"allOf", "anyOf", "oneOf"}) {
    const auto it = schema.find(key);
    if (it == schema.end() || !it->is_array()) continue;
    if (which == Below::binding && !binds(key)) continue;
    for (std::size_t i = 0; i < it->size(); ++i) {
      call((*it)[i], std::string("/") + key + "/" + std::to_string(i));
    }
  }
}

template <class AnyJson, class F>
void walk(AnyJson& schema, const std::string& pointer, Below which, const F& visit, int depth) {
  if (!schema.is_object() || depth > kWalkDepth) return;
  visit(schema, pointer);
  each_child(schema, which, [&](AnyJson& child, const std::string& step) {
    walk(child, pointer + step, which, visit, depth + 1);
  });
}

}  // namespace

void walk_schemas(Json& schema, const std::function<void(Json&)>& visit) {
  walk(
      schema, "", Below::all, [&visit](Json& one, const std::string&) { visit(one); }, 0);
}

void walk_schemas(const Json& schema, const std::string& pointer,
                  const std::function<void(const Json&, const std::string&)>& visit) {
  walk(schema, pointer, Below::all, visit, 0);
}

void walk_binding_schemas(const Json& schema, const std::string& pointer,
                          const std::function<void(const Json&, const std::string&)>& visit) {
  walk(schema, pointer, Below::binding, visit, 0);
}

void drop_unstored(Json& schema) {
  // Not x-kubernetes-preserve-unknown-fields: false, which is stored, and refused.
  static constexpr const char* kKeys[] = {"description",
                                          "type",
                                          "format",
                                          "title",
                                          "pattern",
                                          "id",
                                          "$schema",
                                          "exclusiveMinimum",
                                          "exclusiveMaximum",
                                          "uniqueItems",
                                          "nullable",
                                          "x-kubernetes-embedded-resource",
                                          "x-kubernetes-int-or-string",
                                          "enum",
                                          "required",
                                          "allOf",
                                          "anyOf",
                                          "oneOf",
                                          "properties",
                                          "patternProperties",
                                          "dependencies",
                                          "definitions",
                                          "x-kubernetes-list-map-keys",
                                          "x-kubernetes-validations"};
  static constexpr const char* kOfRules[] = {"message", "messageExpression", "fieldPath"};
  const auto drop = [](Json& object, const char* key) {
    const auto it = object.find(key);
    if (it == object.end()) return;
    if (*it == false || *it == "" || (it->is_structured() && it->empty())) object.erase(it);
  };
  walk_schemas(schema, [&](Json& one) {
    for (const char* key : kKeys) drop(one, key);
    for (const char* key : {"default", "example"}) {
      if (const auto it = one.find(key); it != one.end() && it->is_null()) one.erase(it);
    }
    const auto rules = one.find("x-kubernetes-validations");
    if (rules == one.end() || !rules->is_array()) return;
    for (Json& rule : *rules) {
      if (!rule.is_object()) continue;
      for (const char* key : kOfRules) drop(rule, key);
    }
  });
}

}  // namespace kubewatch::crdgen
