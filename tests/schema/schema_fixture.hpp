// Short words for the schema tests: JSON from text, a schema with every kind of node, apply in one
// call.
#pragma once

#include <string>

#include "base/json.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"
#include "support/catch.hpp"

namespace schema_test {

using namespace kubewatch;
using namespace kubewatch::schema;

inline Json json(const std::string& text) {
  Result<Json> value = base::parse_json(text);
  INFO(text);
  REQUIRE(value.ok());
  return *value;
}

inline FieldSet set(const std::string& fields_v1) {
  Result<FieldSet> value = FieldSet::from_fields_v1(json(fields_v1));
  INFO(fields_v1);
  REQUIRE(value.ok());
  return *value;
}

// spec: map {n, name, tags (set), items (by name), words (atomic list), box (atomic map), free (map
// of strings), deep.value}
inline MergeNodePtr thing_schema() {
  static const MergeNodePtr schema =
      crd_merge_schema(json(R"({"type":"object","properties":{"spec":{
    "type":"object","properties":{
      "n":{"type":"integer"},"name":{"type":"string"},
      "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
        "items":{"type":"object","properties":{"name":{"type":"string"},"v":{"type":"integer"},
          "w":{"type":"integer"}}}},
      "words":{"type":"array","items":{"type":"string"}},
      "box":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"integer"},
        "b":{"type":"integer"}}},
      "free":{"type":"object","additionalProperties":{"type":"string"}},
      "deep":{"type":"object","properties":{"value":{"type":"string"}}}}}}})"));
  return schema;
}

inline Json thing(const Json& spec) {
  return {{"apiVersion", "x/v1"}, {"kind", "Thing"}, {"metadata", {{"name", "t"}}}, {"spec", spec}};
}

inline WallTime at_second(int second) {
  return WallTime(std::chrono::seconds(1700000000 + second));
}

inline Result<ApplyOutcome> apply_as(const std::string& manager, const Json* live,
                                     const Json& applied, bool force = false, int second = 0) {
  ApplyRequest request;
  request.live = live;
  request.applied = applied;
  request.manager = manager;
  request.force = force;
  request.schema = thing_schema();
  request.now = at_second(second);
  return apply(request);
}

// FieldsV1 of a manager's entry as text, "" when it has none.
inline std::string fields_of(const Json& object, const std::string& manager) {
  const Json* entries = base::find(object, {"metadata", "managedFields"});
  if (entries == nullptr) return "";
  for (const Json& entry : *entries) {
    if (entry["manager"] == manager) return base::dump_json(entry["fieldsV1"]);
  }
  return "";
}

}  // namespace schema_test
