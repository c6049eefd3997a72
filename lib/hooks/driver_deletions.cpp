// Driver, the part about objects that are gone: onDelete, each deletion once, whatever comes after
// it under the same name, and whoever runs the rule then.
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "hooks/driver.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::hooks {

void Driver::on_gone(const runtime::StoredObject& last, Gone how) {
  const core::ObjectKey key = last.meta.key();
  // It may only have left the selection, and is ours to let go then: nothing of it is forgotten
  // before the guard tells that it is gone, too.
  const auto guarded = caches_.guarded_meta(key);
  const bool is_guarded = guarded && guarded->uid == last.meta.uid;
  const bool inherited = inherited_.count(last.meta.uid) > 0 && finalized_elsewhere(last.meta);
  const bool cleaned_up = finalized_.count(last.meta.uid) > 0;
  if (!is_guarded) finalized_.erase(last.meta.uid);
  const bool finalized = cleaned_up || inherited;
  const bool told_here = owns(key);
  const bool to_tell = rule_.on_delete && how != Gone::left && !finalized;
  if (is_guarded) {
    if (!to_tell) on_wake({key, runtime::Reason::updated, "", false, ""});
  } else if (!owed_.has(key)) {
    forget_key(key, last.meta.uid);
    // Until its hook has run the next start has to know of it.
    if (to_tell && told_here) state_.set_to_run(key, last.meta.uid);
  } else {
    // A deletion is to be told: of what had the name before, or of this, of which a second watch
    // tells as well. Its run, its retries and what the next start has to know of it stay.
    inherited_.erase(last.meta.uid);
    memory_.forget(last.meta.uid);
    notes_.drop_previous(key);
  }
  if (to_tell) {
    Deleted deleted{last, how == Gone::deleted_or_left};
    deleted.unjudged = !last.reduced && !passes(rule_.for_.filter, last.json).ok();
    if (told_here) {
      tell_deletion(std::move(deleted));
    } else if (!finalized_elsewhere(last.meta)) {
      untold_.note(std::move(deleted), services_.loop.now());
    }
  }
  services_.on_progress();
}

void Driver::tell_deletion(Deleted deleted) {
  const core::ObjectKey key = deleted.last.meta.key();
  owed_.add(std::move(deleted));
  controller_.add(key, runtime::Reason::updated);
}

// Whether its finalize hook has run is not known here, but that one was to.
bool Driver::finalized_elsewhere(const core::ObjectMeta& last) const {
  return rule_.finalize && (last.deleting() || last.has_finalizer(rule_.finalizer_name));
}

// Until this instance has run it, who led before was to finalize it, and may have done so.
void Driver::note_inherited(const core::ObjectKey& key) {
  if (scope_.shards == 0 || !rule_.on_delete || !rule_.finalize) return;
  auto meta = caches_.object_meta(key);
  if (!meta) meta = caches_.guarded_meta(key);
  if (meta && meta->has_finalizer(rule_.finalizer_name)) inherited_.insert(meta->uid);
}

void Driver::look_at_deleted(const runtime::Work& work, const Done& done) {
  const Deleted& deleted = *owed_.first(work.key);
  if (!deleted.may_have_left) return run_deleted(work, done);
  const core::ObjectMeta& last = deleted.last.meta;
  get_live(work.key, [this, work, done, uid = last.uid,
                      version = last.resource_version](Result<Json> answer) {
    const Deleted* first = owed_.first(work.key);
    if (first == nullptr) return done(runtime::RunOutcome::done());
    // It has come back and gone again meanwhile: of that the answer says nothing.
    if (first->last.meta.resource_version != version) return look_at_deleted(work, done);
    if (!answer.ok() && answer.error().is_forbidden() && !caches_.covers(work.key.namespace_)) {
      drop_failed_deletion(work.key, uid,
                           "the rule does not name its namespace any more, and may not look there "
                           "whether it has gone");
      return done(runtime::RunOutcome::done());
    }
    if (!answer.ok() && !answer.error().is_not_found()) {
      return fail_early(work, first->last.meta, answer.error(),
                        after_deletion(work.key, uid, done));
    }
    if (answer.ok() && base::string_at(*answer, {"metadata", "uid"}) == uid) {
      deletion_told(work.key);
      const core::ObjectMeta meta = core::meta_of(*answer);
      if (meta.has_finalizer(rule_.finalizer_name)) state_.know(work.key, uid);
      return look_at(work, done);
    }
    owed_.confirm_gone(work.key);
    run_deleted(work, done);
  });
}

void Driver::run_deleted(const runtime::Work& work, const Done& done) {
  if (starts_nothing(done)) return;
  if (const auto held = hooks_.held(rule_.reconcile)) {
    return done(runtime::RunOutcome::put_off(held->until));
  }
  const runtime::StoredObject& last = owed_.first(work.key)->last;
  if (waits_for_own_writes(work.key, last.meta.uid, done)) return;
  if (owed_.first(work.key)->unjudged && !judge_deleted(work, last, done)) return;
  RunInput input;
  input.id = services_.random.suffix(10);
  input.work = work;
  input.object.meta = last.meta;
  if (!last.reduced) input.previous = last.json;
  input.deleted = true;
  notes_.take_reason(input.work, false);
  // It has gone before the run that its making asked for: while another of its name was told.
  if (input.work.reason == runtime::Reason::created) input.work.reason = runtime::Reason::updated;
  start(std::move(input), after_deletion(work.key, last.meta.uid, done));
}

// What the filter fails on counts as matched, but for want of time it may be known later: a filter
// that took too long for another object is not run for a while.
bool Driver::judge_deleted(const runtime::Work& work, const runtime::StoredObject& last,
                           const Done& done) {
  const auto matched = passes(rule_.for_.filter, last.json);
  if (matched.ok()) {
    if (*matched) return true;
    end_deletion(work.key, last.meta.uid);
    done(runtime::RunOutcome::done());
    return false;
  }
  if (matched.error().kind() != ErrorKind::timeout) return true;
  fail_early(work, last.meta,
             Error(ErrorKind::timeout, shown_failure(owner_type().gvk, last.json, matched.error())),
             after_deletion(work.key, last.meta.uid, done));
  return false;
}

// What failed is tried again, or parked with its deletion, unless something else waits behind it.
Driver::Done Driver::after_deletion(const core::ObjectKey& key, const std::string& uid, Done done) {
  return [this, key, uid, done = std::move(done)](const runtime::RunOutcome& outcome) {
    using How = runtime::RunOutcome::Verdict;
    const bool failed = outcome.verdict == How::failed || outcome.verdict == How::parked;
    const bool gives_up = failed && gives_up_deletion(key, outcome.verdict);
    if (outcome.verdict == How::not_yet || outcome.verdict == How::put_off) return done(outcome);
    if (failed && !gives_up) {
      done(outcome);
      return bound_failed_deletions(key);
    }
    // Before `done`: it must not look idle in between.
    if (gives_up) {
      drop_failed_deletion(
          key, uid, "what has the name of the deleted object now, or had it since, is to run");
    } else {
      end_deletion(key, uid);
    }
    // Whatever the hook asked for: there is nothing that could be run again.
    done(runtime::RunOutcome::done());
  };
}

void Driver::drop_failed_deletion(const core::ObjectKey& key, const std::string& uid,
                                  const std::string& why) {
  ++given_up_;
  base::log_error("onDelete has failed and is given up: " + why,
                  {{"controller", rule_.name}, {"object", owner_of(key, {}).str()}, {"uid", uid}});
  end_deletion(key, uid);
}

void Driver::end_deletion(const core::ObjectKey& key, const std::string& uid) {
  untold_.told(key, uid);  // the shard may have been given up since
  deletion_told(key);
  // Its name was in use once more, or is again.
  if (owed_.has(key)) {
    controller_.add(key, runtime::Reason::updated);
  } else if (name_is_in_use(key)) {
    controller_.add(key, runtime::Reason::created);
  }
}

// Where every onDelete of the rule fails, each deletion would be kept for ever.
void Driver::bound_failed_deletions(const core::ObjectKey& failed) {
  if (stopping_) return;
  for (const core::ObjectKey& key : owed_.fail(failed)) {
    base::log_warn(
        "the last state of a deleted object is dropped: its onDelete has failed, and those "
        "of too many after it",
        {{"controller", rule_.name}, {"object", owner_of(key, {}).str()}});
  }
  const auto runs = [this](const core::ObjectKey& key) { return running_.count(key) > 0; };
  while (const auto oldest = owed_.excess(runs)) {
    const std::string uid = owed_.first(*oldest)->last.meta.uid;
    drop_failed_deletion(*oldest, uid, "too many deletions have failed, and it is the oldest");
    if (owed_.has(*oldest) || name_is_in_use(*oldest)) continue;
    controller_.forget(*oldest);
    forget_key(*oldest);
  }
}

// A live object must not wait for ever behind a deletion that nothing tries again.
bool Driver::gives_up_deletion(const core::ObjectKey& key,
                               runtime::RunOutcome::Verdict verdict) const {
  if (stopping_ || !owed_.has(key)) return false;
  const bool used_up =
      verdict == runtime::RunOutcome::Verdict::parked || controller_.queue().is_last_attempt(key);
  return used_up && (owed_.count(key) > 1 || (name_is_in_use(key) && !is_skipped(key)));
}

// The guard may still show what was deleted.
bool Driver::name_is_in_use(const core::ObjectKey& key) const {
  if (caches_.has_object(key)) return true;
  const auto guarded = caches_.guarded_meta(key);
  const Deleted* gone = owed_.first(key);
  return guarded && (gone == nullptr || gone->last.meta.uid != guarded->uid);
}

void Driver::deletion_told(const core::ObjectKey& key) {
  if (!owed_.has(key)) return;
  const std::string uid = owed_.end_first(key);
  // What has the name now is handled, and remembered, by a run of its own, if it gets one.
  const HandledObject* kept = state_.find(key);
  if (kept != nullptr && kept->uid == uid) state_.forget(key);
  if (const Deleted* next = owed_.first(key); next != nullptr) {
    state_.set_to_run(key, next->last.meta.uid);
  } else if (!caches_.has_object(key)) {
    state_.forget(key);
  }
}

Legacy Driver::leave() {
  if (!started_) return std::move(left_);
  Legacy out;
  out.gvk = rule_.for_.gvk;
  out.cleaned_up = std::move(patched_);
  out.expected = own_writes_.leave();
  if (!rule_.on_delete) return out;
  const auto all = [](const core::ObjectKey&) { return true; };
  out.deleted = owed_.take(all);
  for (Deleted& deleted : untold_.take(all, services_.loop.now())) {
    out.deleted.push_back(std::move(deleted));
  }
  out.finalized = std::move(finalized_);
  out.gone_since = std::make_shared<std::vector<runtime::StoredObject>>();
  // The next one may wait for a kind that never comes.
  const auto note = [gone = out.gone_since, bytes = std::size_t{0}](const auto& change) mutable {
    if (change.type != runtime::ChangeType::deleted) return;
    bytes += change.json.size();
    if (gone->size() == UntoldDeletions::kMostObjects || bytes > UntoldDeletions::kMostBytes)
      return;
    gone->push_back({change.meta, change.json});
    gone->back().reduced = change.reduced;
  };
  out.streams = caches_.hold_objects(services_.pool, note);
  return out;
}

void Driver::take_over(Legacy left) {
  const core::Gvk& gvk = rule_.for_.gvk;
  if (gvk.group != left.gvk.group || gvk.kind != left.gvk.kind) return;
  left_ = std::move(left);
  if (gvk == left_.gvk) return;
  // In another version they look otherwise.
  left_.streams = {};
  for (Deleted& deleted : left_.deleted) deleted.last.json.clear();
}

void Driver::use_legacy() {
  Legacy left = std::exchange(left_, Legacy());
  if (left.cleaned_up && left.cleaned_up->finalizer() == rule_.finalizer_name) {
    patched_ = *std::move(left.cleaned_up);
    patched_.keep_dying([this](const core::ObjectKey& key) {
      return caches_.has_object(key) || caches_.guarded_meta(key);
    });
  }
  own_writes_.take_over(std::move(left.expected), views());
  watch_own_writes();
  if (!rule_.on_delete) return;
  finalized_.merge(left.finalized);
  for (Deleted& deleted : left.deleted) {
    const core::ObjectMeta& last = deleted.last.meta;
    if (caches_.has_object(last.key(), last.uid)) continue;
    if (owns(last.key())) {
      tell_deletion(std::move(deleted));
    } else {
      untold_.note(std::move(deleted), services_.loop.now());
    }
  }
  if (left.gone_since == nullptr) return;
  for (const runtime::StoredObject& last : *left.gone_since) {
    if (caches_.has_object(last.meta.key(), last.meta.uid)) continue;
    // In a namespace that the rule does not name any more it had left before it went.
    const bool is_left =
        !caches_.covers(last.meta.namespace_) || caches_.how_gone(last) == Gone::left;
    on_gone(last, is_left ? Gone::left : Gone::deleted_or_left);
  }
}

}  // namespace kubewatch::hooks
