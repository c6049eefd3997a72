#include "schema/rule_checker.hpp"

namespace kubewatch::schema {

const RuleChecker* rule_checker() {
  return nullptr;
}

}  // namespace kubewatch::schema
