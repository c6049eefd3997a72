// A rule without `for`: one run for everything, with no object. What speaks of an object is
// refused, with the reason.
#include "hooks/rule_parts.hpp"

namespace kubewatch::hooks {
namespace {

void refuse(const RuleNode& spec, const std::string& key, std::string_view why) {
  if (spec.has(key)) spec.child(key).problem_at_key(why);
}

void check_env(const RuleNode& hook) {
  if (!hook.has("env") || !hook.child("env").value().is_object()) return;
  const RuleNode env = hook.child("env");
  for (const auto& [name, value] : env.value().items()) {
    if (!value.is_object() || !value.contains("jq")) continue;
    env.child(name).problem("needs spec.for: there is no object for jq to read");
  }
}

}  // namespace

void check_without_for(const RuleNode& spec, const Rule& rule) {
  refuse(spec, "finalize", "needs spec.for: there is no object to finalize");
  refuse(spec, "whenNoLongerMatched", "needs spec.for: there is no object to match");
  refuse(spec, "onDelete", "needs spec.for: there is no object to be deleted");
  refuse(spec, "changed", "needs spec.for: there is no object to change");
  if (spec.has("concurrency") && rule.concurrency != 1) {
    spec.child("concurrency")
        .problem("must be 1 or left out: a rule without spec.for is one run for everything");
  }
  if (spec.has("reconcile")) check_env(spec.child("reconcile"));
  if (spec.has("apply")) {
    refuse(spec.child("apply"), "ownerReference",
           "needs spec.for: there is no object that could own the children");
  }
}

}  // namespace kubewatch::hooks
