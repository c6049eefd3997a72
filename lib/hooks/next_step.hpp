// What to do about one object now, and whether a change of it is worth a run. Pure: facts in,
// decision out.
#pragma once

#include "core/meta.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

enum class NextStep {
  skip,           // not ours to run: unmatched, or dying without our finalizer
  add_finalizer,  // then wait for the event of our own patch
  reconcile,
  finalize,          // run the cleanup, then take the finalizer off
  remove_finalizer,  // alive, no longer matched: let go
};

// `matched`: in the selection and passing the filter.
NextStep next_step(const core::ObjectMeta& meta, bool matched, const Rule& rule);

// One change of an object of the `for` kind.
struct OwnChange {
  bool added = false;              // new, or the same name with a new uid
  bool lifecycle_changed = false;  // deletionTimestamp or finalizers differ
  bool content_changed = false;    // one of `changed` differs
  bool matched_before = false;
  bool matched_now = false;
  bool deleting = false;
  bool has_finalizer = false;  // ours, now
};

enum class Reaction { ignore, run_now, run_debounced };
// What the rule does not want any more runs as well: there is nothing to do then, and what waited
// for the object ends (a retry, its being parked).
Reaction react(const OwnChange& change);

// deletionTimestamp or finalizers differ.
bool lifecycle_differs(const core::ObjectMeta& before, const core::ObjectMeta& after);

}  // namespace kubewatch::hooks
