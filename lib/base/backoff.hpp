// Exponential backoff with jitter, as arithmetic: no clock, no global randomness.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"

namespace kubewatch::base {

struct BackoffPolicy {
  Duration initial{1000};
  Duration max{300000};
  double factor = 2.0;
  double jitter =
      0.2;  // the delay is multiplied by a number in [1-jitter, 1+jitter], capped at max
};

// Delay before try number `attempt` (1 = the first retry).
Duration backoff_delay(const BackoffPolicy& policy, std::uint32_t attempt, Random& random);

// One failing thing's backoff. Only fail() grows it, only succeed() resets it.
class Backoff {
 public:
  explicit Backoff(BackoffPolicy policy) : policy_(policy) {}
  Duration fail(Random& random) { return backoff_delay(policy_, ++failures_, random); }
  void succeed() { failures_ = 0; }
  std::uint32_t failures() const { return failures_; }

 private:
  BackoffPolicy policy_;
  std::uint32_t failures_ = 0;
};

}  // namespace kubewatch::base
