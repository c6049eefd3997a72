// Decisions about one object of the `for` kind.
#include "hooks/next_step.hpp"

#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

NextStep unmatched_step(const Rule& rule) {
  switch (rule.when_no_longer_matched) {
    case WhenUnmatched::keep: return NextStep::skip;
    case WhenUnmatched::release: return NextStep::remove_finalizer;
    case WhenUnmatched::finalize: return NextStep::finalize;
  }
  return NextStep::skip;
}

}  // namespace

NextStep next_step(const core::ObjectMeta& meta, bool matched, const Rule& rule) {
  const bool guarded = meta.has_finalizer(rule.finalizer_name);
  // A finalizer without a finalize block is there for children; the run itself takes it off.
  const bool wanted = rule.finalize.has_value() || guarded;
  if (!meta.deleting() && !matched) return guarded ? unmatched_step(rule) : NextStep::skip;
  switch (runtime::finalizer_step(meta, rule.finalizer_name, wanted)) {
    case runtime::FinalizerStep::reconcile: return NextStep::reconcile;
    case runtime::FinalizerStep::add_first: return NextStep::add_finalizer;
    case runtime::FinalizerStep::clean_up: return NextStep::finalize;
    case runtime::FinalizerStep::nothing: return NextStep::skip;
    case runtime::FinalizerStep::remove: return NextStep::remove_finalizer;
  }
  return NextStep::skip;
}

Reaction react(const OwnChange& change) {
  const bool left =
      !change.added && change.matched_before && (change.lifecycle_changed || !change.matched_now);
  if (!change.has_finalizer && (change.deleting || !change.matched_now)) {
    return left ? Reaction::run_now : Reaction::ignore;
  }
  if (change.added || change.lifecycle_changed) return Reaction::run_now;
  if (!change.matched_now) return change.matched_before ? Reaction::run_now : Reaction::ignore;
  if (!change.matched_before) return Reaction::run_now;
  return change.content_changed ? Reaction::run_debounced : Reaction::ignore;
}

bool lifecycle_differs(const core::ObjectMeta& before, const core::ObjectMeta& after) {
  return before.deletion_timestamp != after.deletion_timestamp ||
         before.finalizers != after.finalizers;
}

}  // namespace kubewatch::hooks
