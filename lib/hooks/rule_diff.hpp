// What a changed set of rules means for the controllers that run: which go on, end and start, and
// when a new one may start. Pure: names and fingerprints in, a plan out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kubewatch::hooks {

// A rule as far as the plan needs it.
struct RuleIdentity {
  std::string name;
  std::uint64_t fingerprint = 0;  // equal: the same text in the same folder
  std::string field_manager;
  std::string finalizer;
};

struct RulePlan {
  std::vector<std::string> unchanged;
  std::vector<std::string> ended;  // changed and removed ones
  std::vector<std::string> removed;
  std::vector<std::string> started;  // changed and new ones
  bool empty() const { return ended.empty() && started.empty(); }
};

// Both lists as load_rules() accepts them: names, field managers and finalizers are unique.
RulePlan plan_reload(const std::vector<RuleIdentity>& running,
                     const std::vector<RuleIdentity>& wanted);

// Two controllers of one name, field manager or finalizer must never run at the same time: whether
// the rule can start while these still end.
bool may_start(const RuleIdentity& rule, const std::vector<RuleIdentity>& ending);

}  // namespace kubewatch::hooks
