#include "cli/rule_checker.hpp"

namespace kubewatch::cli {

std::unique_ptr<schema::RuleChecker> make_rule_checker() {
  return nullptr;
}

}  // namespace kubewatch::cli
