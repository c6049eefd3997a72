// The lint rules about the schema of one version. Pure.
#pragma once

#include <string>
#include <vector>

#include "crdgen/lint.hpp"

namespace kubewatch::crdgen {

void lint_schema(const Json& root, const std::string& version, const std::string& pointer,
                 std::vector<LintFinding>& out);

}  // namespace kubewatch::crdgen
