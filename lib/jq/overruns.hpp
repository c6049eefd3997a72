// What one program may cost in time over all of its runs: a deadline bounds one of them, and a
// program that never ends would use it up for each of a thousand objects in a row. Plain class:
// `now` is an argument.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace kubewatch::jq {

class Overruns {
 public:
  static constexpr std::uint32_t kInARow = 3;  // a busy machine makes one or two
  static constexpr Duration kFirstPause{10000};
  static constexpr Duration kLongestPause{300000};

  // A run took all the time that it may, or long enough to use up what else it may.
  void overran(TimePoint now) {
    if (++in_a_row_ < kInARow) return;
    pause_ = in_a_row_ == kInARow ? kFirstPause : std::min(2 * pause_, kLongestPause);
    until_ = now + pause_;
  }
  void ended() { in_a_row_ = 0; }

  // It is not to be run. After the pause one more overrun begins the next, twice as long.
  bool pauses(TimePoint now) const { return in_a_row_ >= kInARow && now < until_; }
  std::uint32_t in_a_row() const { return in_a_row_; }
  // From the last overrun on.
  Duration pause() const { return pause_; }

 private:
  std::uint32_t in_a_row_ = 0;
  Duration pause_{0};
  TimePoint until_{};
};

}  // namespace kubewatch::jq
