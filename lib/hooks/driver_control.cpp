// Driver, the part for people: why an object runs or does not, and what is known over restarts.
#include "base/log.hpp"
#include "hooks/driver.hpp"
#include "hooks/evaluate.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxIgnored = 1000;

// Asked for by somebody whom no mark shows.
bool is_request(runtime::Reason reason) {
  using runtime::Reason;
  return reason == Reason::external || reason == Reason::manual || reason == Reason::schedule;
}

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

ExplainFacts Driver::facts_of(const core::ObjectKey& key) {
  ExplainFacts facts;
  const TimePoint now = services_.loop.now();
  facts.now = now;
  facts.waits_for = resolved_ ? "" : waits_for_;
  if (!resolved_ && facts.waits_for.empty()) facts.waits_for = "the server was not asked yet";
  facts.blocked = resolved_ && caches_.blocked();
  facts.not_listed = why_not_listed();
  facts.started = started_;
  facts.outdated = started_ && !stopping_ && controller_.held();
  facts.stopping = stopping_;
  facts.may_write = services_.client.may_write().ok();
  facts.owns_shard = owns(key);
  facts.sharded = scope_.shards > 1;
  if (!started_) return facts;
  facts.failing = failing_watches();
  facts.guarded_outside = caches_.is_guarded_outside(key);
  if (const auto object = caches_.object(key)) {
    facts.cached = true;
    facts.meta = object->meta;
    facts.reduced = object->reduced;
    const auto passed = passes(rule_.for_.filter, object->json);
    if (passed.ok()) {
      facts.passes_filter = *passed;
    } else {
      SecretMask mask;
      mask.add_json(object->json);
      facts.filter_error = mask.mask(passed.error().render());
    }
    for (const auto& lists : {caches_.owned(object->meta.uid), caches_.related(key)}) {
      for (const InputList& list : lists) {
        if (!list.complete) facts.incomplete_lists.push_back(list.why_incomplete);
      }
    }
  }
  if (const auto* ignored = ignored_.find(key.str())) {
    facts.ignored = IgnoredChange{ignored->resource_version, now - ignored->at};
  }
  if (auto loop = loop_alarm_.found(key, now); loop && !services_.steady) {
    facts.loop = SlowedLoop{std::move(loop->paths), loop_alarm_.delay(key, now)};
  }
  facts.queued = controller_.queue().look(key);
  for (const auto& [id, run] : runs_) {
    if (run->key() == key) facts.held_by = run->held_by();
  }
  if (facts.queued && !facts.queued->held) {
    const bool finalizes = facts.meta.deleting() && rule_.finalize;
    const auto held = hooks_.held(finalizes ? rule_.finalize->hook : rule_.reconcile);
    if (held && facts.queued->due <= now + held->wait) facts.held_by = held->why;
  }
  facts.schedule_in = schedule_in();
  const auto counts = controller_.queue().counts(now);
  facts.held_keys = counts.held;
  facts.ready_ahead = counts.ready;
  facts.used_slots = services_.slots.used();
  facts.slot_limit = services_.slots.limit();
  const auto it = slow_retries_at_.find(key);
  if (slow_retries_.contains(key) && it != slow_retries_at_.end()) {
    facts.slow_retry_in = it->second - now;
  }
  return facts;
}

bool Driver::only_debounced() const {
  const auto counts = controller_.queue().counts(services_.loop.now());
  return counts.ready == 0 && counts.held == 0 &&
         controller_.queue().pressing() == debounced_.size();
}

DriverStatus Driver::status() const {
  DriverStatus status;
  status.started = started_;
  status.held = started_ && controller_.held();
  const bool rests = started_ && !controller_.held() && controller_.running() == 0 &&
                     expected_.empty() && left_settled();
  status.idle = rests && controller_.queue().idle();
  status.debounced = rests && !status.idle && only_debounced();
  status.at_work = started_ && (controller_.held() || controller_.queue().at_work() ||
                                !expected_.empty() || !left_settled());
  for (const core::ObjectKey& key : failing_) {
    if (controller_.queue().is_retrying(key)) ++status.failing;
  }
  status.parked = controller_.queue().counts(services_.loop.now()).parked;
  status.unfinished = unfinished_.size();
  for (const auto& [id, run] : runs_) status.hooks += run->hook_running() ? 1 : 0;
  status.runs = run_count_;
  status.failed_runs = failed_count_;
  return status;
}

std::optional<Duration> Driver::schedule_in() const {
  if (!schedule_ || !schedule_->next()) return std::nullopt;
  return std::chrono::duration_cast<Duration>(*schedule_->next() - services_.loop.wall());
}

std::vector<std::string> Driver::why_not_started() const {
  if (started_ && !controller_.held()) return {};
  if (!resolved_) return {waits_for_.empty() ? "the server was not asked yet" : waits_for_};
  std::string why = why_not_listed();
  if (!why.empty()) return {std::move(why)};
  return {caches_.blocked() ? "a kind is missing, or may not be read"
                            : "its objects have not been listed yet"};
}

std::vector<std::string> Driver::failing_watches() const {
  std::vector<std::string> out;
  for (const WatchFacts& watch : caches_.watches()) {
    if (watch.failing_for) out.push_back(how_long_failing(watch) + ": " + watch.failure);
  }
  return out;
}

std::string Driver::why_not_listed() const {
  if (!resolved_) return "";
  for (const WatchFacts& watch : caches_.watches()) {
    if (!watch.synced && !watch.failure.empty()) return name_of(watch) + ": " + watch.failure;
  }
  return "";
}

std::vector<std::string> Driver::unreconciled() const {
  std::vector<std::string> out;
  const auto add = [&](const core::ObjectKey& key, const char* how) {
    out.push_back((rule_.has_for ? owner_of(key, {}).str() : "the run") + " " + how);
  };
  for (const core::ObjectKey& key : failing_) {
    if (controller_.queue().is_retrying(key)) add(key, "failed");
  }
  for (const core::ObjectKey& key : controller_.queue().parked()) add(key, "is parked");
  for (const core::ObjectKey& key : unfinished_) add(key, "is not ready yet");
  return out;
}

void Driver::note_ignored(const core::ObjectKey& key, const std::string& resource_version) {
  if (auto* known = ignored_.find(key.str())) {
    *known = {resource_version, services_.loop.now()};
    return;
  }
  ignored_.insert(key.str(), {resource_version, services_.loop.now()});
  if (ignored_.size() <= kMaxIgnored) return;
  const std::string oldest = *ignored_.oldest([](const Ignored&) { return true; });
  ignored_.erase(oldest);
}

void Driver::unsettle(const core::ObjectKey& key, runtime::Reason reason) {
  if (!is_request(reason) || services_.state == nullptr || !rule_.has_for) return;
  const HandledObject* known = services_.state->find({rule_.name, key});
  if (known == nullptr || known->hash.empty()) return;
  services_.state->set({rule_.name, key}, {known->uid, "", false, 0, known->ran});
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
  // Known, so that its deletion is seen after a restart; no mark equals an empty one.
  const std::int64_t now = milliseconds_of(services_.loop.wall());
  services_.state->set({rule_.name, meta.key()}, {meta.uid, "", false, 0, now});
  handling_[run_id] = {meta.uid, state_mark(meta.key(), meta, json), false, 0, now};
}

void Driver::end_handling(const std::string& run_id, const core::ObjectKey& key,
                          const runtime::RunOutcome& outcome) {
  auto node = handling_.extract(run_id);
  if (node.empty() || services_.state == nullptr) return;
  // The next run may have begun already, or have been asked for by somebody whom no mark shows.
  const auto queued = controller_.queue().look(key);
  if (running_.count(key) > 0 || (queued && queued->pending && is_request(queued->reason))) return;
  using RunVerdict = runtime::RunOutcome::Verdict;
  HandledObject handled = std::move(node.mapped());
  if (outcome.verdict == RunVerdict::requeue) {
    handled.due = milliseconds_of(services_.loop.wall() + outcome.after.value_or(Duration{0}));
  } else if (outcome.verdict == RunVerdict::parked || controller_.queue().is_parked(key)) {
    handled.parked = true;
  } else if (outcome.verdict != RunVerdict::done) {
    return;  // it is to run again in any case
  }
  if (!caches_.has_object(key)) {  // gone, or the finalizer was its last tie
    if (deleted_.count(key) == 0) services_.state->forget({rule_.name, key});
    return;
  }
  services_.state->set({rule_.name, key}, std::move(handled));
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
  if (!rule_.on_delete || uid.empty() || deleted_.count(key) > 0) return false;
  return caches_.has_object(key) && !caches_.has_object(key, uid);
}

// What the state knows and the caches do not show was deleted, or left the selection, meanwhile.
std::size_t Driver::forget_gone() {
  std::size_t gone = 0;
  for (const auto& [key, handled] : services_.state->of_controller(rule_.name)) {
    if (was_made_again(key, handled.uid)) {
      ++gone;
      on_gone(last_of(key, handled.uid), Gone::deleted);
      continue;
    }
    if (caches_.has_object(key) || caches_.is_guarded_outside(key)) continue;
    if (may_be_left(key) || deleted_.count(key) > 0) continue;
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
