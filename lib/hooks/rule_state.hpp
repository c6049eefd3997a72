// What one rule keeps over restarts (--state): which of its objects were handled, as what, and how
// that ended; and which are being handled now, of which nothing is sure until their runs end. With
// no store it knows nothing and keeps nothing. Decides nothing by the caches: what a mark is made
// of, and what is there, the driver says. Owned by it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hooks/explain.hpp"
#include "hooks/state_marks.hpp"
#include "hooks/state_store.hpp"
#include "runtime/controller.hpp"

namespace kubewatch::hooks {

// Milliseconds since 1970, as HandledObject has times.
std::int64_t milliseconds_of(WallTime time);

class RuleState {
 public:
  // `store`: null: nothing is kept. Both must outlive it.
  RuleState(StateStore* store, const Rule& rule) : store_(store), rule_(rule) {}

  bool is_kept() const { return store_ != nullptr; }
  // Null when it is not known. Valid until the next call that changes anything.
  const HandledObject* find(const core::ObjectKey& key) const;
  std::vector<std::pair<core::ObjectKey, HandledObject>> all() const;
  void set(const core::ObjectKey& key, HandledObject handled);
  void forget(const core::ObjectKey& key);
  // Of the kind that the rule was for before, objects are there or not, and are not the rule's.
  void forget_other_kinds();
  // Of an entry that is not known to be of the rule's kind.
  void learn_kind(const core::ObjectKey& key, HandledObject handled);

  // It runs at the next start in any case, and its deletion is seen.
  void set_to_run(const core::ObjectKey& key, const std::string& uid);
  // The same, of one that is not known yet: a start looks for finalizers where it knows objects.
  void know(const core::ObjectKey& key, const std::string& uid);
  // It is to run for this reason. A request, which no mark shows: it is not handled before it has
  // run.
  void ask(const core::ObjectKey& key, runtime::Reason reason);
  // Asked for by somebody whom no mark shows.
  static bool is_request(runtime::Reason reason);

  // Of all that a run depends on. `input`: RuleCaches::input_mark. Precondition: is_kept().
  std::string mark(const std::string& input);
  // From now on until the run has ended nothing is sure. Precondition: is_kept().
  void begin(const std::string& run_id, const core::ObjectMeta& meta, const std::string& input,
             WallTime now);
  // It has not run after all, or is to run again in any case: nothing becomes sure.
  void drop(const std::string& run_id) { handling_.erase(run_id); }
  // What it was begun as, which is not being handled any more; absent: nothing is known of it.
  std::optional<HandledObject> end(const std::string& run_id);
  // `handled` as a run leaves it that ended so; absent: it is to run again in any case. `parked`:
  // its attempts are used up, or it failed for good, of which `why` tells.
  static std::optional<HandledObject> ended(HandledObject handled,
                                            const runtime::RunOutcome& outcome, bool parked,
                                            const std::string& why, WallTime now);

  // Its times by a clock that was set back since they were written: what was to come after so long
  // comes as long after now.
  static HandledObject by_the_clock_of(WallTime now, HandledObject handled);

  // How the last run of a parked object ended, whoever ran it. Who still has that run says more of
  // it.
  std::optional<LastRun> last_run(const core::ObjectKey& key, WallTime now) const;

 private:
  std::string kind() const;

  StateStore* store_;
  const Rule& rule_;
  HookFiles hook_files_;
  std::map<std::string, HandledObject> handling_;  // by run id
};

}  // namespace kubewatch::hooks
