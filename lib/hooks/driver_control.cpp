// Driver, the part for people: why an object runs or does not, and how its rule stands.
#include <algorithm>

#include "hooks/driver.hpp"
#include "hooks/evaluate.hpp"

namespace kubewatch::hooks {

ExplainFacts Driver::facts_of(const core::ObjectKey& key) {
  ExplainFacts facts;
  facts.now = services_.loop.now();
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
  add_object_facts(key, facts);
  add_queue_facts(key, facts);
  return facts;
}

void Driver::add_object_facts(const core::ObjectKey& key, ExplainFacts& facts) const {
  facts.guarded_outside = caches_.is_guarded_outside(key);
  facts.deleted = owed_.has(key);
  // Of what is in no cache, what its run has met.
  if (std::string why = why_waits(key); !why.empty()) facts.lacks = {std::move(why)};
  const auto object = caches_.object(key);
  if (!object) return;
  facts.cached = true;
  facts.meta = object->meta;
  facts.reduced = object->reduced;
  const auto passed = passes(rule_.for_.filter, object->json);
  if (passed.ok()) {
    facts.passes_filter = *passed;
  } else {
    facts.filter_error = shown_failure(owner_type().gvk, object->json, passed.error());
  }
  if (!facts.deleted) facts.lacks = lacks_of(key, object->meta.uid);
}

void Driver::add_queue_facts(const core::ObjectKey& key, ExplainFacts& facts) {
  const TimePoint now = facts.now;
  facts.ignored = ignored_.find(key, now);
  if (auto loop = loop_alarm_.found(key, now); loop && !services_.steady) {
    facts.loop = SlowedLoop{std::move(loop->paths), loop->compared, loop_alarm_.delay(key, now)};
  }
  facts.queued = controller_.queue().look(key);
  facts.last = state_.last_run(key, services_.loop.wall());
  for (const auto& [id, run] : runs_) {
    if (run->key() == key) facts.held_by = run->held_by();
  }
  if (facts.queued && !facts.queued->held) {
    const bool finalizes = facts.meta.deleting() && rule_.finalize;
    const auto held = hooks_.held(finalizes ? rule_.finalize->hook : rule_.reconcile);
    if (held && facts.queued->due <= held->until) facts.held_by = held->why;
  }
  facts.schedule_in = schedule_in();
  facts.behind = why_behind(key);
  const auto counts = controller_.queue().counts(now);
  facts.held_keys = counts.held;
  facts.ready_ahead = counts.ready;
  facts.used_slots = services_.slots.used();
  facts.slot_limit = services_.slots.limit();
  if (const auto it = slow_retries_.find(key); it != slow_retries_.end()) {
    facts.slow_retry_in = it->second.at - now;
  }
}

bool Driver::only_debounced() const {
  const auto counts = controller_.queue().counts(services_.loop.now());
  return counts.ready == 0 && counts.held == 0 &&
         controller_.queue().pressing() == notes_.count(Mark::debounced);
}

// What waits for a list is tried again as well.
std::size_t Driver::failing() const {
  const runtime::WorkQueue& queue = controller_.queue();
  const std::set<core::ObjectKey>& failed = notes_.failing();
  const auto retries = [&](const core::ObjectKey& key) { return queue.is_retrying(key); };
  const auto waits = [&](const auto& lacking) {
    return failed.count(lacking.first) == 0 && waits_for_lists(lacking.first);
  };
  const std::map<core::ObjectKey, Lack>& lacking = lacking_.all();
  return static_cast<std::size_t>(std::count_if(failed.begin(), failed.end(), retries) +
                                  std::count_if(lacking.begin(), lacking.end(), waits)) +
         caches_.left_unread().size();
}

// What the queue does not know of: work that begins when a watch or a list tells something.
bool Driver::awaits_events() const {
  return own_writes_.any() || patched_.any_added() || notes_.any_awaited() ||
         left_namespaces_.looking() || caches_.left_awaited() ||
         caches_.cleanup_waits_for_children();
}

DriverStatus Driver::status() const {
  DriverStatus status;
  status.started = started_;
  status.held = started_ && controller_.held();
  const bool awaits = awaits_events();
  const bool rests = started_ && !controller_.held() && controller_.running() == 0 && !awaits;
  status.idle = rests && controller_.queue().idle();
  status.debounced = rests && !status.idle && only_debounced();
  status.at_work = started_ && (controller_.held() || controller_.queue().at_work() || awaits);
  status.failing = failing();
  status.parked = controller_.queue().counts(services_.loop.now()).parked;
  status.unfinished = notes_.unfinished().size();
  status.given_up = given_up_;
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
  const auto add = [&](const core::ObjectKey& key, const std::string& how) {
    out.push_back((rule_.has_for ? owner_of(key, {}).str() : "the run") + " " + how);
  };
  for (const auto& [key, lack] : lacking_.all()) {
    if (waits_for_lists(key)) add(key, "waits: " + lacking_.in_words(lack));
  }
  for (const core::ObjectKey& key : notes_.failing()) {
    if (controller_.queue().is_retrying(key)) add(key, "failed");
  }
  for (const core::ObjectKey& key : controller_.queue().parked()) add(key, "is parked");
  for (const core::ObjectKey& key : notes_.unfinished()) add(key, "is not ready yet");
  for (const WatchFacts& watch : caches_.left_unread()) {
    out.push_back("what the rule left behind cannot be listed, " + name_of(watch) + ": " +
                  watch.failure);
  }
  if (given_up_ > 0) out.push_back(std::to_string(given_up_) + " onDelete given up");
  return out;
}

}  // namespace kubewatch::hooks
