// Driver, what is known over restarts (--state): what was handled, what has gone meanwhile, and
// what is not to run for a start alone.
#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

void Driver::begin_handling(const std::string& run_id, const core::ObjectMeta& meta,
                            const std::string& json) {
  if (!state_.is_kept()) return;
  state_.begin(run_id, meta, caches_.input_mark(meta.key(), meta, json), services_.loop.wall());
}

void Driver::end_handling(const std::string& run_id, const core::ObjectKey& key, const RunEnd& end,
                          bool cleaned_up) {
  auto begun = state_.end(run_id);
  if (!begun) return;
  // The next run may have begun already, or have been asked for by somebody whom no mark shows.
  const auto queued = controller_.queue().look(key);
  const bool asked = queued && queued->pending && RuleState::is_request(queued->reason);
  if (running_.count(key) > 0 || asked) return;
  using RunVerdict = runtime::RunOutcome::Verdict;
  const RunVerdict verdict = end.outcome.verdict;
  if ((cleaned_up && verdict == RunVerdict::done) || is_unmatched(key)) return forget_left(key);
  const bool parked = verdict == RunVerdict::parked || controller_.queue().is_parked(key);
  auto handled =
      RuleState::ended(*std::move(begun), end.outcome, parked,
                       end.record.outcome + ": " + end.record.message, services_.loop.wall());
  if (!handled) return;
  // Gone, or the finalizer was its last tie. What is parked with it is told to the next start,
  // which looks for finalizers where it knows objects.
  const bool tied = handled->parked && caches_.is_guarded_outside(key);
  if (!caches_.has_object(key) && !tied) return forget_left(key);
  state_.set(key, *std::move(handled));
}

// A run of it was asked for by name.
bool Driver::is_unmatched(const core::ObjectKey& key) const {
  if (!rule_.for_.filter) return false;
  const auto object = caches_.object(key);
  return object && !object->meta.has_finalizer(rule_.finalizer_name) &&
         caches_.how_gone(*object) == Gone::left;
}

// It has left what the rule selects, or was cleaned up, and the rule's finalizer is not on it: when
// it goes while nothing runs, that is no deletion to tell.
void Driver::forget_left(const core::ObjectKey& key) {
  if (!owed_.has(key)) state_.forget(key);
}

// At the start: what is as it was when it was last handled does not run.
bool Driver::restore(const core::ObjectKey& key) {
  if (run_all_) return false;
  const HandledObject* known = state_.find(key);
  if (known == nullptr) return false;
  const auto object = caches_.object(key);
  if (!object || object->meta.uid != known->uid ||
      state_.mark(caches_.input_mark(key, object->meta, object->json)) != known->hash) {
    return false;
  }
  ++restored_;
  if (known->parked) {
    controller_.park(key);
    return true;
  }
  const WallTime wall = services_.loop.wall();
  const HandledObject handled = RuleState::by_the_clock_of(wall, *known);
  if (handled != *known) state_.set(key, handled);  // also for later starts
  if (handled.due != 0) {
    const Duration wait{std::max<std::int64_t>(0, handled.due - milliseconds_of(wall))};
    controller_.add(key, runtime::Reason::requeue, "", wait);
  }
  restore_clock(key, handled);
  return true;
}

// The clock goes on while nothing runs: resync counts from the last run, and of the times of the
// schedule that passed since then one run makes up.
void Driver::restore_clock(const core::ObjectKey& key, const HandledObject& handled) {
  if (rule_.resync <= Duration{0} && !rule_.schedule) return;
  const WallTime wall = services_.loop.wall();
  const std::int64_t now = milliseconds_of(wall);
  if (handled.ran == 0) {
    // Not known: it counts from here, also for later starts.
    HandledObject counted = handled;
    counted.ran = now;
    state_.set(key, std::move(counted));
    return schedule_resync(key);
  }
  const Duration since{now - handled.ran};
  schedule_resync(key, since);
  if (!rule_.schedule || !rule_.schedule->missed(wall - since, wall)) return;
  --restored_;
  on_wake({key, runtime::Reason::schedule, "", false, ""});
}

// Its last state is not known any more.
runtime::StoredObject Driver::last_of(const core::ObjectKey& key, const std::string& uid) const {
  runtime::StoredObject last;
  last.meta.api_version = rule_.for_.gvk.api_version();
  last.meta.kind = rule_.for_.gvk.kind;
  last.meta.name = key.name;
  last.meta.namespace_ = key.namespace_;
  last.meta.uid = uid;
  return last;
}

// The one that is there now is another: where deletions are told, that of the first comes first.
bool Driver::was_made_again(const core::ObjectKey& key, const std::string& uid) const {
  if (!rule_.on_delete || uid.empty() || owed_.has(key)) return false;
  return caches_.has_object(key) && !caches_.has_object(key, uid);
}

// Of an entry without a kind: it may be of another one. Its uid tells, where the object is there;
// where it is not, nobody can know what has gone, and a hook must not undo what may be in use.
void Driver::learn_kind(const core::ObjectKey& key, const HandledObject& handled) {
  auto there = caches_.object_meta(key);
  if (!there) there = caches_.guarded_meta(key);
  if (there && there->uid == handled.uid) {
    state_.learn_kind(key, handled);
  } else if (!left_namespaces_.may_have(key)) {
    state_.forget(key);
  }
}

// What the state knows and the caches do not show was deleted, or left the selection, meanwhile.
std::size_t Driver::forget_gone() {
  std::size_t gone = 0;
  for (const auto& [key, handled] : state_.all()) {
    if (handled.kind.empty()) {
      learn_kind(key, handled);
      continue;
    }
    if (was_made_again(key, handled.uid)) {
      ++gone;
      on_gone(last_of(key, handled.uid), Gone::deleted);
      continue;
    }
    if (caches_.has_object(key) || caches_.is_guarded_outside(key)) continue;
    if (left_namespaces_.may_have(key) || owed_.has(key)) continue;
    state_.forget(key);
    ++gone;
    on_gone(last_of(key, handled.uid), Gone::deleted_or_left);
  }
  return gone;
}

void Driver::after_restore() {
  const std::size_t gone = forget_gone();
  if (restored_ + gone == 0) return;
  base::log_info("objects as they were before the restart do not run",
                 {{"controller", rule_.name},
                  {"unchanged", std::to_string(restored_)},
                  {"gone", std::to_string(gone)}});
}

}  // namespace kubewatch::hooks
