// What a CRD's structural schema does to an object: unknown fields dropped, defaults filled in,
// values checked with the API server's wording. No CEL. Pure.
#pragma once

#include <string>
#include <vector>

#include "apiserver/status.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

// Removes what the schema does not know; returns the paths removed ("spec.x", "spec.list[0].y").
std::vector<std::string> prune(Json& object, const Json& schema);

// Fills defaults where a key is absent, or null and not nullable.
void apply_defaults(Json& object, const Json& schema);

// Checks everything but apiVersion, kind and metadata.
void validate_object(const Json& object, const Json& schema, FieldErrors& errors);

}  // namespace kubewatch::apiserver
