// A real loop whose time can also be moved on by hand: now() and wall() run with the system's
// clocks, plus all that was skipped. For rehearsals, where real processes and hours of waiting
// meet; loops that only simulate have a VirtualClock.
#pragma once

#include <optional>

#include "loop/event_loop.hpp"

namespace kubewatch::loop {

class SkippingTime {
 public:
  // Before the first timer of the loop is set, which must outlive it. `wall`: what wall() starts
  // at; absent: the real time.
  explicit SkippingTime(EventLoop& loop, std::optional<WallTime> wall = {});

  // Between turns. Timers that are due then fire in the next turn.
  void skip(Duration time);
  // The earliest deadline, but of real time (after_real); absent: no timer is set.
  std::optional<TimePoint> next_timer() const;

 private:
  EventLoop::Impl* impl_;
};

}  // namespace kubewatch::loop
