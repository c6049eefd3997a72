#include "hooks/orphaned_finalizers.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/kind_families.hpp"
#include "hooks/optional_kinds.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/rule_kinds.hpp"
#include "hooks/shard_plan.hpp"

namespace kubewatch::hooks {
namespace {

// A controller of a group's kind, which waits as long as one of the rules is there that have a name
// of their own.
bool waits_for_one(const Rule& of_group, const std::vector<Rule>& rules) {
  const RuleIdentity identity = identity_of(of_group);
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return !rule.for_.every_kind && !may_start(identity, {identity_of(rule)});
  });
}

}  // namespace

bool is_guarded(const std::vector<Rule>& rules, const core::Gvk& gvk,
                const std::string& finalizer) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    if (!rule.has_for || rule.for_.gvk.group != gvk.group) return false;
    if (!rule.for_.every_kind) {
      return rule.for_.gvk.kind == gvk.kind && rule.finalizer_name == finalizer;
    }
    StreamRule kind = rule.for_;
    kind.gvk = gvk;
    const Rule made = rule_of_kind(rule, std::move(kind));
    return made.finalizer_name == finalizer && !waits_for_one(made, rules);
  });
}

bool orphans_finalizer(const Rule& ending, const std::vector<Rule>& wanted) {
  return ending.has_for && ending.when_removed == WhenRemoved::release &&
         !is_guarded(wanted, ending.for_.gvk, ending.finalizer_name);
}

OrphanedFinalizers::OrphanedFinalizers(client::Client& client, base::Random& random,
                                       std::function<void()> on_progress)
    : client_(client), random_(random), on_progress_(std::move(on_progress)) {}

void OrphanedFinalizers::reload(const std::vector<const Rule*>& ending,
                                const std::vector<Rule>& wanted,
                                const client::ResourceMap* resources) {
  const auto guarded = [&](const ReleaseTarget& target) {
    return is_guarded(wanted, target.type.gvk, target.finalizer);
  };
  std::erase_if(noted_, guarded);
  std::erase_if(may_wait_, guarded);
  std::erase_if(releases_, [&](const auto& release) { return guarded(release->target()); });
  for (const Rule* rule : ending) {
    if (orphans_finalizer(*rule, wanted)) note(*rule, resources);
  }
}

void OrphanedFinalizers::note(const Rule& rule, const client::ResourceMap* resources) {
  const core::ResourceType* type = resources == nullptr ? nullptr : resources->find(rule.for_.gvk);
  if (type == nullptr) return warn_of_kind(rule, resources);
  if (is_in_no_shard(rule.for_, *type)) return;  // it had none of its objects
  // One that was changed and then removed before its last run was over ends twice.
  const bool known = std::any_of(noted_.begin(), noted_.end(), [&](const ReleaseTarget& target) {
    return target.controller == rule.name && target.type.gvk == type->gvk &&
           target.finalizer == rule.finalizer_name && target.namespaces == rule.for_.namespaces;
  });
  if (known) return;
  noted_.push_back(
      {rule.name, *type, rule.for_.namespaces, rule.finalizer_name, rule.apply.field_manager});
}

void OrphanedFinalizers::warn_of_kind(const Rule& rule, const client::ResourceMap* resources) {
  if (resources != nullptr && is_absent(*resources, rule.for_.gvk)) return;
  const auto unknown = [](const core::Gvk&) -> std::optional<bool> { return std::nullopt; };
  if (!may_need_finalizer(rule, true, unknown)) return;
  base::log_warn(
      "the finalizer of a removed controller is not taken off: the server does not tell its kind "
      "now; with its old rule file: kubewatch run-controller finalizers -f FILE --release",
      {{"controller", rule.name},
       {"kind", rule.for_.gvk.str()},
       {"finalizer", rule.finalizer_name}});
}

void OrphanedFinalizers::ended(const std::string& controller) {
  for (auto it = noted_.begin(); it != noted_.end();) {
    if (it->controller != controller) {
      ++it;
      continue;
    }
    ReleaseTarget target = std::move(*it);
    it = noted_.erase(it);
    if (client_.may_write().ok()) {
      release(std::move(target));
    } else {
      may_wait_.push_back(std::move(target));
    }
  }
}

void OrphanedFinalizers::lead() {
  for (ReleaseTarget& target : std::exchange(may_wait_, {})) release(std::move(target));
}

void OrphanedFinalizers::release(ReleaseTarget target) {
  releases_.push_back(std::make_unique<FinalizerRelease>(client_, random_, std::move(target)));
  FinalizerRelease* raw = releases_.back().get();
  raw->start([this, raw] {
    std::erase_if(releases_, [raw](const auto& one) { return one.get() == raw; });
    on_progress_();
  });
}

void OrphanedFinalizers::stop() {
  for (const auto& release : releases_) {
    base::log_warn(
        "ending before the finalizer of a removed controller was taken off everywhere; with its "
        "old rule file: kubewatch run-controller finalizers -f FILE --release",
        {{"controller", release->target().controller}, {"finalizer", release->target().finalizer}});
  }
  releases_.clear();
  noted_.clear();
  may_wait_.clear();
}

}  // namespace kubewatch::hooks
