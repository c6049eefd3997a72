// The timers of a loop of virtual time: a queue by deadline, equal deadlines in the order of their
// making. No clock: the loop says what time it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace kubewatch::loop {

class VirtualTimers {
 public:
  using Id = std::pair<TimePoint, std::uint64_t>;

  Id add(TimePoint at, std::function<void()> callback) {
    const Id id{at, ++made_};
    timers_.emplace(id, std::move(callback));
    return id;
  }
  void remove(const Id& id) { timers_.erase(id); }
  std::optional<TimePoint> next() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
  }
  // What was due before the call; what a callback adds waits for the next turn.
  void fire_due(TimePoint now) {
    const std::uint64_t last = made_;
    for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
      if (it->first.second > last) {
        ++it;
        continue;
      }
      const auto callback = std::move(it->second);
      timers_.erase(it);
      callback();
      it = timers_.begin();  // a callback may remove any timer
    }
  }

 private:
  std::map<Id, std::function<void()>> timers_;
  std::uint64_t made_ = 0;
};

}  // namespace kubewatch::loop
