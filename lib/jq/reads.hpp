// Which places of its input a program looks at, as far as its text says so: for rules that keep
// less of an object than a program wants. Pure.
#pragma once

#include "jq/ast.hpp"
#include "jq/paths.hpp"

namespace kubewatch::jq {

// Paths that it reads wherever it comes to them. What stands behind iteration, slices, variables
// and functions of other inputs is not followed.
std::vector<Path> paths_read(const Node& root);

}  // namespace kubewatch::jq
