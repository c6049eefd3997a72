#include "runtime/stream_backoff.hpp"

#include <utility>

namespace kubewatch::runtime {

void StreamBackoff::sign(TimePoint now, StreamSign sign) {
  switch (sign) {
    case StreamSign::opened: opened_ = now; break;
    case StreamSign::init:
    case StreamSign::synced:
    case StreamSign::outdated: break;
    case StreamSign::alive: backoff_.succeed(); break;
  }
}

Duration StreamBackoff::fail(TimePoint now, base::Random& random) {
  const auto opened = std::exchange(opened_, std::nullopt);
  if (opened && now - *opened >= reset_after_) backoff_.succeed();
  return backoff_.fail(random);
}

void StreamMonitor::change() {
  ++health_.changes;
}

bool StreamMonitor::sign(StreamSign sign) {
  if (sign == StreamSign::outdated) return std::exchange(health_.ready, false);
  if (sign != StreamSign::synced && sign != StreamSign::alive) return false;
  const bool was_ready = health_.ready;
  const bool was_failing = health_.failing_since.has_value();
  if (sign == StreamSign::synced) health_.ready = true;
  health_.failing_since.reset();
  health_.retry_at.reset();
  health_.failures = 0;
  return health_.ready != was_ready || was_failing;
}

bool StreamMonitor::failed(TimePoint now, const std::string& error,
                           std::optional<Duration> retry_in) {
  const bool was_failing = health_.failing_since.has_value();
  if (!was_failing) health_.failing_since = now;
  health_.last_error = error;
  ++health_.failures;
  health_.retry_at = retry_in ? std::optional(now + *retry_in) : std::nullopt;
  return !was_failing;
}

}  // namespace kubewatch::runtime
