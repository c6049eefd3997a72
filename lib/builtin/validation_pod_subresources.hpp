// What the endpoints of single parts of a Pod allow: containers may join it and never leave, and
// its sizes may change in processors and memory alone. Pure.
#pragma once

#include <string>

#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

// Of an update through one of those endpoints (pod_subresources.hpp), prepared by now; null for any
// other.
KindRules* rules_of_pod_part(const std::string& subresource);

}  // namespace kubewatch::builtin
