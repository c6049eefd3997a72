#include "hooks/rule_diff.hpp"

#include <algorithm>

namespace kubewatch::hooks {
namespace {

const RuleIdentity* find(const std::vector<RuleIdentity>& rules, const std::string& name) {
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const RuleIdentity& rule) { return rule.name == name; });
  return it == rules.end() ? nullptr : &*it;
}

bool same(const RuleIdentity& a, const RuleIdentity& b) {
  return a.fingerprint == b.fingerprint && a.field_manager == b.field_manager &&
         a.finalizer == b.finalizer;
}

bool collide(const RuleIdentity& a, const RuleIdentity& b) {
  return a.name == b.name || a.field_manager == b.field_manager || a.finalizer == b.finalizer;
}

}  // namespace

RulePlan plan_reload(const std::vector<RuleIdentity>& running,
                     const std::vector<RuleIdentity>& wanted) {
  RulePlan plan;
  for (const RuleIdentity& old : running) {
    const RuleIdentity* now = find(wanted, old.name);
    if (now != nullptr && same(old, *now)) {
      plan.unchanged.push_back(old.name);
      continue;
    }
    plan.ended.push_back(old.name);
    if (now == nullptr) plan.removed.push_back(old.name);
  }
  for (const RuleIdentity& rule : wanted) {
    const RuleIdentity* old = find(running, rule.name);
    if (old != nullptr && same(*old, rule)) continue;
    plan.started.push_back(rule.name);
  }
  return plan;
}

bool may_start(const RuleIdentity& rule, const std::vector<RuleIdentity>& ending) {
  return std::none_of(ending.begin(), ending.end(),
                      [&](const RuleIdentity& other) { return collide(rule, other); });
}

}  // namespace kubewatch::hooks
