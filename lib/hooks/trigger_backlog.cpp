#include "hooks/trigger_backlog.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {

Duration TriggerBacklog::left(TimePoint now) const {
  return std::max(Duration{0}, paid_until_ - (kAtOnce - 1) * kEach - now);
}

void TriggerBacklog::count(TimePoint now) {
  paid_until_ = std::max(paid_until_, now) + kEach;
}

bool TriggerBacklog::take(TimePoint now, const TriggerRequest& request) {
  if (request.key) return true;
  if (waiting_.empty() && left(now) == Duration{0}) {
    count(now);
    return true;
  }
  std::string objects = objects_of(request);
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                 [&](const Waiting& one) { return one.objects == objects; });
  if (!waits) waiting_.push_back({std::move(objects), request});
  return false;
}

std::optional<TriggerRequest> TriggerBacklog::next(TimePoint now) {
  if (waiting_.empty() || left(now) > Duration{0}) return std::nullopt;
  count(now);
  TriggerRequest out = std::move(waiting_.front().request);
  waiting_.pop_front();
  return out;
}

std::optional<Duration> TriggerBacklog::wait(TimePoint now) const {
  if (waiting_.empty()) return std::nullopt;
  return left(now);
}

}  // namespace kubewatch::hooks
