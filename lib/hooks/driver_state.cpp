// Driver, what is known over restarts (--state): what was handled, what has gone meanwhile, and
// what is not to run for a start alone.
#include "base/document_words.hpp"
#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {
namespace {

// Asked for by somebody whom no mark shows.
bool is_request(runtime::Reason reason) {
  using runtime::Reason;
  return reason == Reason::external || reason == Reason::manual || reason == Reason::schedule;
}

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

// How the last run of a parked object ended, whoever ran it. Who still has that run says more of
// it.
std::optional<LastRun> Driver::last_by_state(const core::ObjectKey& key) const {
  const HandledObject* known =
      services_.state == nullptr ? nullptr : services_.state->find({rule_.name, key});
  if (known == nullptr || known->why.empty()) return std::nullopt;
  LastRun last{known->why, "", Duration{0}, true};
  last.ago =
      Duration{std::max<std::int64_t>(0, milliseconds_of(services_.loop.wall()) - known->ran)};
  return last;
}

void Driver::unsettle(const core::ObjectKey& key, runtime::Reason reason) {
  if (!is_request(reason) || services_.state == nullptr || !rule_.has_for) return;
  const HandledObject* known = services_.state->find({rule_.name, key});
  if (known == nullptr || known->hash.empty()) return;
  services_.state->set({rule_.name, key}, to_be_handled(kind_in_state(), known->uid, known->ran));
}

std::string Driver::state_mark(const core::ObjectKey& key, const core::ObjectMeta& meta,
                               const std::string& json) {
  StateStore& state = *services_.state;
  return state.hash(std::to_string(rule_.fingerprint) + "\n" + hook_files_.mark(rule_, state) +
                    "\n" + caches_.input_mark(key, meta, json));
}

// From now on until the run has ended nothing is sure.
void Driver::begin_handling(const std::string& run_id, const core::ObjectMeta& meta,
                            const std::string& json) {
  if (services_.state == nullptr) return;
  const std::int64_t now = milliseconds_of(services_.loop.wall());
  HandledObject handled = to_be_handled(kind_in_state(), meta.uid, now);
  services_.state->set({rule_.name, meta.key()}, handled);
  handled.hash = state_mark(meta.key(), meta, json);
  handling_[run_id] = std::move(handled);
}

void Driver::end_handling(const std::string& run_id, const core::ObjectKey& key, const RunEnd& end,
                          bool cleaned_up) {
  auto node = handling_.extract(run_id);
  if (node.empty() || services_.state == nullptr) return;
  // The next run may have begun already, or have been asked for by somebody whom no mark shows.
  const auto queued = controller_.queue().look(key);
  if (running_.count(key) > 0 || (queued && queued->pending && is_request(queued->reason))) return;
  using RunVerdict = runtime::RunOutcome::Verdict;
  const RunVerdict verdict = end.outcome.verdict;
  if ((cleaned_up && verdict == RunVerdict::done) || is_unmatched(key)) return forget_left(key);
  HandledObject handled = std::move(node.mapped());
  if (verdict == RunVerdict::requeue) {
    handled.due = milliseconds_of(services_.loop.wall() + end.outcome.after.value_or(Duration{0}));
  } else if (verdict == RunVerdict::parked || controller_.queue().is_parked(key)) {
    handled.parked = true;
    handled.why = base::shortened(end.record.outcome + ": " + end.record.message, kMaxWhy);
  } else if (verdict != RunVerdict::done) {
    return;  // it is to run again in any case
  }
  // Gone, or the finalizer was its last tie. What is parked with it is told to the next start,
  // which looks for finalizers where it knows objects.
  const bool tied = handled.parked && caches_.is_guarded_outside(key);
  if (!caches_.has_object(key) && !tied) {
    if (!owed_.has(key)) services_.state->forget({rule_.name, key});
    return;
  }
  services_.state->set({rule_.name, key}, std::move(handled));
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
  if (services_.state != nullptr && !owed_.has(key)) services_.state->forget({rule_.name, key});
}

std::string Driver::kind_in_state() const {
  const core::Gvk& gvk = rule_.for_.gvk;
  return gvk.group.empty() ? gvk.kind : gvk.kind + "." + gvk.group;
}

// Of the kind that the rule was for before, objects are there or not, and are not the rule's.
void Driver::forget_other_kinds() {
  if (services_.state == nullptr) return;
  for (const auto& [key, handled] : services_.state->of_controller(rule_.name)) {
    if (rule_.has_for && (handled.kind.empty() || handled.kind == kind_in_state())) continue;
    services_.state->forget({rule_.name, key});
  }
}

// At the start: what is as it was when it was last handled does not run.
bool Driver::restore(const core::ObjectKey& key) {
  if (services_.state == nullptr || run_all_) return false;
  const HandledObject* handled = services_.state->find({rule_.name, key});
  if (handled == nullptr) return false;
  const auto object = caches_.object(key);
  if (!object || object->meta.uid != handled->uid ||
      state_mark(key, object->meta, object->json) != handled->hash) {
    return false;
  }
  ++restored_;
  if (handled->parked) {
    controller_.park(key);
    return true;
  }
  if (handled->due != 0) {
    const std::int64_t now = milliseconds_of(services_.loop.wall());
    const Duration wait{std::max<std::int64_t>(0, handled->due - now)};
    controller_.add(key, runtime::Reason::requeue, "", wait);
  }
  restore_clock(key, HandledObject(*handled));
  return true;
}

// The clock goes on while nothing runs: resync counts from the last run, and of the times of the
// schedule that passed since then one run makes up.
void Driver::restore_clock(const core::ObjectKey& key, const HandledObject& handled) {
  if (rule_.resync <= Duration{0} && !rule_.schedule) return;
  const WallTime wall = services_.loop.wall();
  const std::int64_t now = milliseconds_of(wall);
  if (handled.ran == 0 || handled.ran > now) {
    // Not known, or the clock was set back: it counts from here, also for later starts.
    HandledObject counted = handled;
    counted.ran = now;
    services_.state->set({rule_.name, key}, std::move(counted));
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
    HandledObject known = handled;
    known.kind = kind_in_state();
    services_.state->set({rule_.name, key}, std::move(known));
  } else if (!may_be_left(key)) {
    services_.state->forget({rule_.name, key});
  }
}

// What the state knows and the caches do not show was deleted, or left the selection, meanwhile.
std::size_t Driver::forget_gone() {
  std::size_t gone = 0;
  for (const auto& [key, handled] : services_.state->of_controller(rule_.name)) {
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
    if (may_be_left(key) || owed_.has(key)) continue;
    services_.state->forget({rule_.name, key});
    ++gone;
    on_gone(last_of(key, handled.uid), Gone::deleted_or_left);
  }
  return gone;
}

void Driver::after_restore() {
  if (services_.state == nullptr) return;
  const std::size_t gone = forget_gone();
  if (restored_ + gone == 0) return;
  base::log_info("objects as they were before the restart do not run",
                 {{"controller", rule_.name},
                  {"unchanged", std::to_string(restored_)},
                  {"gone", std::to_string(gone)}});
}

}  // namespace kubewatch::hooks
