// Driver, the part about runs that no change of an object asks for: the clock, requests from
// outside, and objects that are gone.
#include "base/json.hpp"
#include "hooks/driver.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/next_step.hpp"
#include "hooks/reduced.hpp"

namespace kubewatch::hooks {

namespace {

// A program that tells more before the start makes it run everything.
constexpr std::size_t kMostEarlyRequests = 10'000;

}  // namespace

void Driver::watch_schedule() {
  if (!schedule_ || stopping_) return;
  schedule_timer_ = services_.loop.after(schedule_->wait(services_.loop.wall()), [this] {
    if (schedule_->is_due(services_.loop.wall())) run_by_schedule();
    watch_schedule();
  });
}

// What is parked waits for a change: the clock is none.
void Driver::run_by_schedule() {
  for (const core::ObjectKey& key : caches_.known_keys()) {
    if (controller_.queue().is_parked(key)) continue;
    on_wake({key, runtime::Reason::schedule, "", false, ""});
  }
}

void Driver::trigger_at_start(TriggerRequest request) {
  if (started_ || stopping_ || run_all_ || services_.state == nullptr) return;
  early_requests_.push_back(std::move(request));
  if (early_requests_.size() < kMostEarlyRequests) return;
  early_requests_.clear();
  run_all_ = true;
}

std::vector<core::ObjectKey> Driver::trigger(const TriggerRequest& request,
                                             runtime::Reason reason) {
  if (!started_ || stopping_) return {};
  std::vector<core::ObjectKey> keys;
  if (request.key) {
    core::ObjectKey key = *request.key;
    if (!owner_type().namespaced) key.namespace_.clear();
    const bool known = caches_.has_object(key) || caches_.is_guarded_outside(key);
    if (rule_.has_for && known) keys.push_back(std::move(key));
  } else if (request.selector) {
    if (rule_.has_for) keys = caches_.selected(*request.selector);
  } else {
    keys = caches_.known_keys();
  }
  std::erase_if(keys, [this](const core::ObjectKey& key) { return !owns(key); });
  // Whoever names many means what matches.
  if (request.key && request.by_person) {
    for (const core::ObjectKey& key : keys) asked_for_.insert(key);
  }
  std::erase_if(keys, [this](const core::ObjectKey& key) {
    if (!is_skipped(key)) return false;
    asked_for_.erase(key);
    return true;
  });
  for (const core::ObjectKey& key : keys) on_wake({key, reason, request.reason, false, ""});
  return keys;
}

bool Driver::is_skipped(const core::ObjectKey& key) const {
  if (!rule_.has_for) return false;
  if (const auto meta = caches_.guarded_meta(key)) {
    return next_step(*meta, false, rule_) == NextStep::skip;
  }
  const auto meta = caches_.object_meta(key);
  if (!meta) return false;
  bool wanted = !rule_.for_.filter || asked_for_.contains(key);
  if (!wanted) {
    const auto object = caches_.object(key);
    const auto passed = passes(rule_.for_.filter, object ? object->json : "");
    // Its run says what is wrong.
    wanted = !passed.ok() || *passed || (object->reduced && needs_whole_object(rule_, *meta));
  }
  return next_step(*meta, wanted, rule_) == NextStep::skip;
}

void Driver::on_gone(const runtime::StoredObject& last, Gone how) {
  const core::ObjectKey key = last.meta.key();
  const bool inherited = inherited_.count(last.meta.uid) > 0 && finalized_elsewhere(last.meta);
  const bool finalized = finalized_.erase(last.meta.uid) > 0 || inherited;
  const bool told_here = owns(key);
  const bool to_tell = rule_.on_delete && how != Gone::left && !finalized;
  forget_key(key, last.meta.uid);
  // Until its hook has run the next start has to know of it.
  if (to_tell && told_here && services_.state != nullptr) {
    services_.state->set({rule_.name, key}, to_be_handled(last.meta.uid));
  }
  if (to_tell && !stopping_) {
    Deleted deleted{last, how == Gone::deleted_or_left};
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
  deleted_[key].push_back(std::move(deleted));
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
  const Deleted& deleted = deleted_[work.key].front();
  if (!deleted.may_have_left) return run_deleted(work, done);
  get_live(work.key, [this, work, done, uid = deleted.last.meta.uid](Result<Json> answer) {
    const auto it = deleted_.find(work.key);
    if (it == deleted_.end()) return done(runtime::RunOutcome::done());
    if (!answer.ok() && !answer.error().is_not_found()) {
      return fail_early(work, it->second.front().last.meta, answer.error(), done);
    }
    if (answer.ok() && base::string_at(*answer, {"metadata", "uid"}) == uid) {
      deletion_told(work.key);
      return look_at(work, done);
    }
    it->second.front().may_have_left = false;
    run_deleted(work, done);
  });
}

void Driver::run_deleted(const runtime::Work& work, const Done& done) {
  if (const auto held = hooks_.held(rule_.reconcile)) {
    return done(runtime::RunOutcome::put_off(held->wait));
  }
  const runtime::StoredObject& last = deleted_[work.key].front().last;
  RunInput input;
  input.id = services_.random.suffix(10);
  input.work = work;
  input.object.meta = last.meta;
  if (!last.reduced) input.previous = last.json;
  input.deleted = true;
  take_first_reason(input);
  start(std::move(input),
        [this, key = work.key, uid = last.meta.uid, done](const runtime::RunOutcome& outcome) {
          using How = runtime::RunOutcome::Verdict;
          if (outcome.verdict == How::failed || outcome.verdict == How::not_yet) {
            return done(outcome);
          }
          untold_.told(key, uid);  // the shard may have been given up since
          deletion_told(key);
          // Whatever the hook asked for: there is nothing that could be run again.
          done(runtime::RunOutcome::done());
          // Its name is in use again, or was once more.
          if (deleted_.count(key) > 0 || caches_.has_object(key)) {
            controller_.add(key, runtime::Reason::created);
          }
        });
}

void Driver::deletion_told(const core::ObjectKey& key) {
  const auto it = deleted_.find(key);
  if (it == deleted_.end()) return;
  const std::string uid = it->second.front().last.meta.uid;
  it->second.erase(it->second.begin());
  // What has the name now is handled, and remembered, by a run of its own, if it gets one.
  if (services_.state != nullptr) {
    const HandledObject* kept = services_.state->find({rule_.name, key});
    if (kept != nullptr && kept->uid == uid) services_.state->forget({rule_.name, key});
  }
  if (!it->second.empty()) return;
  deleted_.erase(it);
  if (services_.state != nullptr && !caches_.has_object(key)) {
    services_.state->forget({rule_.name, key});
  }
}

}  // namespace kubewatch::hooks
