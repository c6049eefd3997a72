// What the checks of CRDs and the validation of objects need of CEL, so that neither knows it.
// Implemented by cel (a RuleChecker that is passed in); without one, rules are not looked at.
#pragma once

#include <memory>
#include <string>

#include "base/json_fwd.hpp"
#include "schema/field_error.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

// The rules of one schema, compiled. Immutable; owned by a CompiledSchema.
class CompiledRules {
 public:
  virtual ~CompiledRules() = default;
  // Adds an error per rule that does not hold (or cannot be evaluated, or costs too much), with
  // fields below `path` ("" for a whole object). `old_value` is null on create: transition rules
  // are passed over, apart from those with optionalOldSelf. The value fits its schema already.
  // `tolerated`: where errors go for which an update is not refused, because what breaks the rule
  // is as it was before; `errors` itself where nothing is tolerated.
  virtual void evaluate(const Json& value, const Json* old_value, const std::string& path,
                        FieldErrors& errors, FieldErrors& tolerated) const = 0;
};

class RuleChecker {
 public:
  virtual ~RuleChecker() = default;
  // All that the compiler finds wrong with the x-kubernetes-validations of a schema: compile
  // errors, types, oldSelf where values cannot be correlated, optionalOldSelf without oldSelf, cost
  // of each and of all. `path` is where the schema stands: "spec.validation.openAPIV3Schema" (all
  // versions have the same schema) or "spec.versions[0].schema.openAPIV3Schema". The schema is
  // structural and without errors; missing rules, line breaks, reasons and field paths have been
  // checked by check_crd. `keep_cost`: the schema did not change, the limit per expression is not
  // looked at.
  virtual void check(const StructuralPtr& root, const std::string& path, bool keep_cost,
                     FieldErrors& errors) const = 0;
  // Of a whole version's schema, or of a part of it (to check a default). Rules that do not compile
  // are errors of check(), here they fail when evaluated. Null when the schema has no rules.
  virtual std::shared_ptr<const CompiledRules> compile(const StructuralPtr& schema,
                                                       bool is_resource_root) const = 0;
};

// The one that this program checks rules with: CEL (cel_checker.cpp).
const RuleChecker& rule_checker();

// The rule in its tokens, one blank apart: two rules that differ in blanks and comments alone come
// to the same. What is no expression stays as it is.
std::string rule_tokens(const std::string& rule);

}  // namespace kubewatch::schema
