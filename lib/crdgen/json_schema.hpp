// A CRD as a JSON Schema (draft 7) for editors: what the server would prune is flagged, constants
// stand for apiVersion and kind. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// All served versions, told apart by apiVersion; only `version` when it is not "".
Json json_schema_of(const Json& crd, const std::string& version = "");

}  // namespace kubewatch::crdgen
