#include "cli/rule_checker.hpp"

#include "schema/cel_validator.hpp"

namespace kubewatch::cli {

std::unique_ptr<schema::RuleChecker> make_rule_checker() {
  return schema::make_rule_checker();
}

}  // namespace kubewatch::cli
