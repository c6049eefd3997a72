// Whether the API server would take a CRD that was generated, told at the places of the
// TypeDefinitions that it was made from, with what it takes but no value can meet. Not the linter:
// what is only regretted is not told. Pure.
#pragma once

#include <vector>

#include "base/json.hpp"
#include "crdgen/node.hpp"

namespace kubewatch::crdgen {

// A problem for each of these. `head` is the spec of the first document of
// the kind, `versions` are the nodes that the versions of the CRD were read from, in its order.
void check_as_server(const Json& crd, const Node& head, const std::vector<Node>& versions);

}  // namespace kubewatch::crdgen
