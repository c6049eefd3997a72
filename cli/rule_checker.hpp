// The compiler of CEL rules that crd-gen uses.
#pragma once

#include <memory>

#include "schema/rule_checker.hpp"

namespace kubewatch::cli {

// Null where this build has no CEL: rules are then not looked at.
std::unique_ptr<schema::RuleChecker> make_rule_checker();

}  // namespace kubewatch::cli
