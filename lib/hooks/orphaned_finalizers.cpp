#include "hooks/orphaned_finalizers.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {

bool is_guarded(const std::vector<Rule>& rules, const core::Gvk& gvk,
                const std::string& finalizer) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    if (!rule.has_for || rule.for_.gvk.group != gvk.group) return false;
    if (!rule.for_.every_kind) {
      return rule.for_.gvk.kind == gvk.kind && rule.finalizer_name == finalizer;
    }
    StreamRule kind = rule.for_;
    kind.gvk = gvk;
    return rule_of_kind(rule, std::move(kind)).finalizer_name == finalizer;
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
    if (resources == nullptr || !orphans_finalizer(*rule, wanted)) continue;
    const core::ResourceType* type = resources->find(rule->for_.gvk);
    if (type == nullptr) continue;
    noted_.push_back({rule->name, *type, rule->for_.namespaces, rule->finalizer_name,
                      rule->apply.field_manager});
  }
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
