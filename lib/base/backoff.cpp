#include "base/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace kubewatch::base {

Duration backoff_delay(const BackoffPolicy& policy, std::uint32_t attempt, Random& random) {
  const double max = static_cast<double>(policy.max.count());
  const double exponent = attempt > 0 ? static_cast<double>(attempt - 1) : 0.0;
  // In doubles: factor^attempt may be infinite, and the cap makes that harmless.
  const double raw =
      static_cast<double>(policy.initial.count()) * std::pow(policy.factor, exponent);
  const double spread = 1.0 + policy.jitter * (2.0 * random.unit() - 1.0);
  const double delay = std::clamp(std::min(raw, max) * spread, 0.0, max);
  return Duration(static_cast<Duration::rep>(std::llround(delay)));
}

}  // namespace kubewatch::base
