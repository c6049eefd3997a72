// Which tick of a schedule is due, when the wall clock may jump and the machine may sleep: however
// many were missed, one run. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace kubewatch::hooks {

// What the caller waits at most before it looks again.
inline constexpr Duration kLookAtSchedule{30000};

// `Schedule` has next(after): the first time after that, absent when there is none; and
// is_of_every_hour(): it goes by how much time passes, not by what hour it is.
template <typename Schedule>
class TickClock {
 public:
  TickClock(Schedule schedule, WallTime now)
      : schedule_(std::move(schedule)), next_(schedule_.next(now)), seen_(now) {}

  // True once for all ticks up to `now`.
  bool is_due(WallTime now) {
    // A clock that is set back a little must not run 03:00 again; one that was wrong by hours must
    // not silence the schedule until then. What is due in every hour would only be missed.
    constexpr Duration kClockWasWrong{3 * 3600 * 1000};
    const Duration held_back = schedule_.is_of_every_hour() ? Duration{0} : kClockWasWrong;
    if (now + held_back < seen_) next_ = schedule_.next(now);
    seen_ = now;
    if (!next_ || now < *next_) return false;
    next_ = schedule_.next(now);
    return true;
  }

  // How long to wait before the next look.
  Duration wait(WallTime now) const {
    if (!next_) return kLookAtSchedule;
    const auto left = std::chrono::ceil<Duration>(*next_ - now);
    return std::clamp(left, Duration{1}, kLookAtSchedule);
  }

  std::optional<WallTime> next() const { return next_; }

 private:
  Schedule schedule_;
  std::optional<WallTime> next_;
  WallTime seen_;
};

}  // namespace kubewatch::hooks
