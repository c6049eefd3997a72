#include "apiserver/event_expiry.hpp"

#include "apiserver/metadata.hpp"
#include "apiserver/step_guard.hpp"

namespace kubewatch::apiserver {

namespace {

// Those of both API groups.
constexpr const char kEvents[] = "events";
// Many that were written at once end at once; others have their turn in between.
constexpr int kAtOnce = 64;

bool is_marked(const Event& event) {
  return is_dying(event.object->json()) && !(event.previous && is_dying(event.previous->json()));
}

}  // namespace

void EventExpiry::on_event(const std::string& storage_id, const EventPtr& event, WallTime now) {
  if (ttl_ <= Duration{0} || storage_id != kEvents) return;
  const std::string& key = event->object->key();
  forget(key);
  // A delete that waits for finalizers writes without a lease: the Event stays from then on, until
  // an update gives it one again.
  if (event->type == EventType::deleted || is_marked(*event)) return;
  const WallTime end = now + ttl_;
  ends_[key] = end;
  by_end_.emplace(end, key);
}

bool EventExpiry::step(WallTime now) {
  for (int i = 0; i < kAtOnce && is_due(now); ++i) {
    const std::string key = by_end_.begin()->second;
    forget(key);
    // Whatever its finalizers want.
    guarded(kEvents, key, [&] { storage_.remove(kEvents, key); });
  }
  return is_due(now);
}

bool EventExpiry::is_due(WallTime now) const {
  return !by_end_.empty() && by_end_.begin()->first <= now;
}

void EventExpiry::forget(const std::string& key) {
  const auto it = ends_.find(key);
  if (it == ends_.end()) return;
  by_end_.erase({it->second, key});
  ends_.erase(it);
}

}  // namespace kubewatch::apiserver
