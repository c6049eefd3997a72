// Finalizers that nobody looks after any more once other rules are loaded, and letting them go
// (whenControllerRemoved: release). Owned by the engine, which says when rules change and when a
// controller has ended. A process that ends leaves finalizers where they are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/finalizer_release.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// One of the rules guards objects of this kind with this finalizer: it will decide about it. One
// for every kind of a group does not where its controller gives way to another of the rules.
bool is_guarded(const std::vector<Rule>& rules, const core::Gvk& gvk, const std::string& finalizer);

// The rule is about to end, and `wanted` are the rules from then on: its finalizer is to be taken
// off its objects.
bool orphans_finalizer(const Rule& ending, const std::vector<Rule>& wanted);

class OrphanedFinalizers {
 public:
  // All must outlive it. on_progress: empty() may have changed.
  OrphanedFinalizers(client::Client& client, base::Random& random,
                     std::function<void()> on_progress);

  // Other rules from now on: what they guard again is let be, and what the ending ones leave behind
  // is noted. Of kinds that the server lacks there is nothing to let go; of those that it does not
  // tell now it is said.
  void reload(const std::vector<const Rule*>& ending, const std::vector<Rule>& wanted,
              const client::ResourceMap* resources);
  // Its last run is over. A process that may not write leaves it to the one that leads, and does it
  // when it leads itself: the other may have ended before it could.
  void ended(const std::string& controller);
  void lead();
  // From now on nothing is written; tells what is left undone.
  void stop();
  bool empty() const { return releases_.empty() && noted_.empty(); }

 private:
  client::Client& client_;
  base::Random& random_;
  std::function<void()> on_progress_;
  void note(const Rule& rule, const client::ResourceMap* resources);
  static void warn_of_kind(const Rule& rule, const client::ResourceMap* resources);
  void release(ReleaseTarget target);

  std::vector<ReleaseTarget> noted_;     // their controllers have not ended yet
  std::vector<ReleaseTarget> may_wait_;  // another instance leads
  std::vector<std::unique_ptr<FinalizerRelease>> releases_;
};

}  // namespace kubewatch::hooks
