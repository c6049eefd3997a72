// A rule without `for`: one run for everything, with no object. What speaks of an object is
// refused, with the reason.
#include "hooks/rule_parts.hpp"

namespace kubewatch::hooks {
namespace {

bool refuse(const RuleNode& spec, const std::string& key, std::string_view why) {
  return !spec.has(key) || spec.child(key).problem_at_key(why);
}

bool check_env(const RuleNode& hook) {
  if (!hook.has("env") || !hook.child("env").value().is_object()) return true;
  const RuleNode env = hook.child("env");
  bool ok = true;
  for (const auto& [name, value] : env.value().items()) {
    if (!value.is_object() || !value.contains("jq")) continue;
    ok = env.child(name).problem("needs spec.for: there is no object for jq to read");
  }
  return ok;
}

}  // namespace

bool check_without_for(const RuleNode& spec, const Rule& rule) {
  bool ok = refuse(spec, "finalize", "needs spec.for: there is no object to finalize");
  ok = refuse(spec, "whenNoLongerMatched", "needs spec.for: there is no object to match") && ok;
  ok = refuse(spec, "onDelete", "needs spec.for: there is no object to be deleted") && ok;
  ok = refuse(spec, "changed", "needs spec.for: there is no object to change") && ok;
  if (spec.has("concurrency") && rule.concurrency != 1) {
    ok = spec.child("concurrency")
             .problem("must be 1 or left out: a rule without spec.for is one run for everything");
  }
  if (spec.has("reconcile")) ok = check_env(spec.child("reconcile")) && ok;
  if (spec.has("apply") && spec.child("apply").has("ownerReference")) {
    ok = refuse(spec.child("apply"), "ownerReference",
                "needs spec.for: there is no object that could own the children") &&
         ok;
  }
  return ok;
}

}  // namespace kubewatch::hooks
