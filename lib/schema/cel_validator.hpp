// Evaluates the rules of a schema at every node of an object, within a budget, and tells what does
// not hold. Unchanged parts of an update are not blamed for rules that they broke before.
#pragma once

#include <memory>

#include "schema/rule_checker.hpp"

namespace kubewatch::schema {

// Null when the schema has no rules. Keeps the schema alive.
std::shared_ptr<const CompiledRules> make_rule_validator(const StructuralPtr& schema,
                                                         bool is_resource_root);

}  // namespace kubewatch::schema
