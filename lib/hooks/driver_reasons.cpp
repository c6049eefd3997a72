// Driver, the part about runs that no change of an object asks for: the clock, and requests from
// outside.
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
  if (started_ || stopping_ || run_all_ || !state_.is_kept()) return;
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
    const bool known = name_is_in_use(key) || owed_.has(key);
    if (rule_.has_for && known) keys.push_back(std::move(key));
  } else if (request.selector) {
    if (rule_.has_for) keys = caches_.selected(*request.selector);
  } else {
    keys = caches_.known_keys();
  }
  std::erase_if(keys, [this](const core::ObjectKey& key) { return !owns(key); });
  // Whoever names many means what matches.
  if (request.key && request.by_person) {
    for (const core::ObjectKey& key : keys) notes_.set(key, Mark::asked_for);
  }
  std::erase_if(keys, [this](const core::ObjectKey& key) {
    // What was deleted under that name is to be told all the same.
    if (owed_.has(key) || !is_skipped(key)) return false;
    notes_.clear(key, Mark::asked_for);
    return true;
  });
  for (const core::ObjectKey& key : keys) on_wake({key, reason, request.reason, false, ""});
  return keys;
}

std::string Driver::why_never(const core::ObjectKey& key) const {
  if (!rule_.has_for) return "the rule has no `for`: {\"all\": true} runs it";
  if (!resolved_ || !owner_type().namespaced || !key.namespace_.empty()) return "";
  return "every " + rule_.for_.gvk.kind + " is in a namespace, and it names none";
}

bool Driver::is_skipped(const core::ObjectKey& key) const {
  if (!rule_.has_for) return false;
  if (const auto meta = caches_.guarded_meta(key)) {
    return next_step(*meta, false, rule_) == NextStep::skip;
  }
  const auto meta = caches_.object_meta(key);
  if (!meta) return false;
  bool wanted = !rule_.for_.filter || notes_.has(key, Mark::asked_for);
  if (!wanted) {
    const auto object = caches_.object(key);
    const auto passed = passes(rule_.for_.filter, object ? object->json : "");
    // Its run says what is wrong.
    wanted = !passed.ok() || *passed || (object->reduced && needs_whole_object(rule_, *meta));
  }
  return next_step(*meta, wanted, rule_) == NextStep::skip;
}

}  // namespace kubewatch::hooks
