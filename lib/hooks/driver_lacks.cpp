// Driver, the part about runs whose lists may lack an object, because an expression of the rule
// fails on it: no hook runs on half a cache. They wait, and start at once when that object has
// changed or gone.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "hooks/driver.hpp"
#include "hooks/plan.hpp"

namespace kubewatch::hooks {

// An expression may have failed for want of time, so what it holds is tried again all the same.
constexpr Duration kHeldFor{30000};

// Its hook was not started: nothing is counted, the backoff neither.
void Driver::hold(const RunInput& input, const Lack& lack, const Done& done) {
  const core::ObjectKey key = input.work.key;
  const std::string& uid = input.object.meta.uid;
  if (!input.deleted && !caches_.has_object(key, uid) && !caches_.is_guarded_outside(key)) {
    done(runtime::RunOutcome::done());  // it went while its run was prepared
    // Its end was taken for that of an object that we had begun to clean up.
    const bool untold = input.first_cleanup && !input.inherited && !caches_.has_object(key);
    return untold ? on_gone(input.object, Gone::deleted_or_left) : forget_if_gone(key);
  }
  if (input.first_cleanup) finalized_.erase(uid);
  if (input.inherited) inherited_.insert(uid);
  notes_.drop_unfinished(key);
  notes_.put_back_reason(input.work, input.finalizing);
  if (!input.deleted) notes_.keep_previous(key, input.previous);
  const auto wait = [this, key, done] {
    done(runtime::RunOutcome::not_yet(std::min<Duration>(kHeldFor, rule_.retry.backoff.max)));
    caches_.try_again(key);
  };
  if (!lacking_.hold(key, lack)) return wait();
  tell_of_lack(input, lack, wait);
}

// Once for each object and expression, not at each attempt; in the log once for all objects.
void Driver::tell_of_lack(const RunInput& input, const Lack& lack, std::function<void()> then) {
  const core::ObjectMeta& meta = input.object.meta;
  const Owner owner = owner_of(input.work.key, meta);
  const std::string why =
      "no hook runs before the lists that it is given are whole: " + lacking_.in_words(lack);
  if (told_.admit(why, services_.loop.now())) {
    base::log_warn(why, {{"controller", rule_.name}, {"object", owner.str()}});
  }
  note_held(input, why);
  if (owner.uid.empty()) return then();
  runtime::Happening event = failure_of(owner, Outcome::failed, why);
  event.reason = kIncompleteInputReason;
  services_.reporter.tell(rule_.name, event);
  // The status of what has left the selection is not the rule's to write.
  if (input.deleted || !caches_.has_object(input.work.key, meta.uid)) return then();
  tell_in_condition(input.work.key, meta, kIncompleteInputReason, why, std::move(then));
}

void Driver::note_held(const RunInput& input, const std::string& why) const {
  RunRecord record;
  record.id = input.id;
  record.controller = rule_.name;
  record.object = owner_of(input.work.key, input.object.meta).str();
  record.key = input.work.key;
  record.reason = std::string(runtime::to_string(input.work.reason));
  record.reason_object = input.work.reason_object;
  record.attempt = input.work.attempt;
  record.outcome = std::string(kIncomplete);
  record.message = why;
  services_.on_held(record);
}

void Driver::wake_lacking(const std::string& place, runtime::Reason reason,
                          const std::string& object) {
  for (const core::ObjectKey& key : lacking_.held_by(place)) {
    on_wake({key, reason, object, false, ""});
  }
}

// As told last, and its next try is not due yet.
bool Driver::waits_for_lists(const core::ObjectKey& key) const {
  if (!lacking_.has(key)) return false;
  const auto state = controller_.queue().look(key);
  return state && state->pending && !state->held && state->due > services_.loop.now();
}

std::string Driver::why_waits(const core::ObjectKey& key) const {
  return waits_for_lists(key) ? lacking_.in_words(key) : "";
}

std::vector<std::string> Driver::lacks_of(const core::ObjectKey& key,
                                          const std::string& uid) const {
  std::vector<std::string> out;
  for (const auto& lists : {caches_.owned(uid, key.namespace_), caches_.related(key)}) {
    for (const InputList& list : lists) {
      if (list.lack) out.push_back(lacking_.in_words(*list.lack));
    }
  }
  return out;
}

}  // namespace kubewatch::hooks
