// What a schema, as JSON, is asked for in many places: its flags, and the value of a keyword. What
// keywords there are at all: keywords.hpp.
#pragma once

#include "base/json.hpp"

namespace kubewatch::crdgen {

inline constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
inline constexpr const char* kEmbedded = "x-kubernetes-embedded-resource";

inline bool flag(const Json& schema, const char* key) {
  return base::bool_at(schema, {key});
}

// Null where the schema has no such key.
inline const Json& at(const Json& schema, const char* key) {
  return base::value_at(schema, {key});
}

// Fields that its `properties` lack stay.
inline bool keeps_unknown(const Json& schema) {
  return flag(schema, kPreserve) || at(schema, "additionalProperties").is_object();
}

}  // namespace kubewatch::crdgen
