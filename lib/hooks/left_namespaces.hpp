// Namespaces that a rule does not name any more, where objects may still carry its finalizer: they
// are looked for once after a start, and watched where they are. Those objects are let go, kept or
// finalized, as whenNoLongerMatched says. Rights there are not the rule's to ask for: where they
// are missing it is said once, and nothing fails. Owns the search; the watches are the caches'.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "hooks/finalizers_outside.hpp"
#include "hooks/services.hpp"

namespace kubewatch::hooks {

// Where a rule that names namespaces has to look; absent: nowhere. `before`: where its former
// selves in this process have run; `in_state`: where the state knows objects; `covers`: what it
// names now; `may_finalize`: objects of it may carry its finalizer. Pure.
std::optional<WatchedBefore> where_left(const WatchedBefore& before,
                                        const std::set<std::string>& in_state,
                                        const std::function<bool(const std::string&)>& covers,
                                        bool may_finalize);

class LeftNamespaces {
 public:
  // All must outlive it.
  LeftNamespaces(Services& services, const Rule& rule, RuleCaches& caches)
      : services_(services), rule_(rule), caches_(caches) {}

  // Precondition: the caches are open. `looked` comes from the loop once what was found is being
  // watched, where there is anything to look for, unless this is gone or was stopped.
  void look(const WatchedBefore& before, std::function<void()> looked);
  void stop() { search_.reset(); }
  bool looking() const { return search_ != nullptr; }
  // Nothing of them is on its way.
  bool settled() const { return !looking() && caches_.left_settled(); }
  // True once, at the first call after it has settled.
  bool take_settled();
  // An object of that name may be there, and is not seen, or not yet.
  bool may_have(const core::ObjectKey& key) const;
  // The server does not let the rule look at, or change, an object there: that is said here.
  bool is_refused(const core::ObjectKey& key, const Error& error) const;

 private:
  void on_found(const FinalizersOutside::Found& found);

  Services& services_;
  const Rule& rule_;
  RuleCaches& caches_;
  std::function<void()> looked_;
  std::unique_ptr<FinalizersOutside> search_;  // while it looks
  std::set<std::string> unseen_;               // namespaces that it may not look at
  bool settled_taken_ = false;
};

}  // namespace kubewatch::hooks
