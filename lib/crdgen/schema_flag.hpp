// The flags of a schema, as JSON, that are asked for in many places. What keywords there are at
// all: keywords.hpp.
#pragma once

#include "base/json.hpp"

namespace kubewatch::crdgen {

inline constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
inline constexpr const char* kEmbedded = "x-kubernetes-embedded-resource";

inline bool flag(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && *it == true;
}

}  // namespace kubewatch::crdgen
