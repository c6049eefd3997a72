// "A or B" as a structural schema can say it: int-or-string, one enum, oneOf over hoisted
// properties, and else anything at all. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

struct UnionSchema {
  Json schema;
  std::string note;  // which of them, and why
};

// Precondition: at least two alternatives.
UnionSchema untagged_union(const std::vector<Json>& alternatives);

}  // namespace kubewatch::crdgen
