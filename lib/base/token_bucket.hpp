// So many at once, and one more each time that a duration has passed: as arithmetic, without a
// clock.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace kubewatch::base {

class TokenBucket {
 public:
  // Full at first; `per`: until one token has come back, above 0.
  TokenBucket(double burst, Duration per) : burst_(burst), per_(per), left_(burst) {}

  // What is there: below 0 where more was taken than there was.
  double level(TimePoint now) const {
    const auto passed = static_cast<double>((now - at_).count());
    return std::min(burst_, left_ + passed / static_cast<double>(per_.count()));
  }
  // Whether it is there is the caller's question.
  void take(TimePoint now, double count = 1) {
    left_ = level(now) - count;
    at_ = now;
  }

 private:
  double burst_;
  Duration per_;
  double left_;     // at the last take
  TimePoint at_{};  // of it
};

}  // namespace kubewatch::base
