// The backoff of one stream that fails and is started again, and its health. Only a failure grows
// it. What resets it: an item that proves the stream works (a change, a bookmark), or a life of
// `reset_after`. What does not: that it was opened, that an initial list begins or delivers objects
// (kube-rs resets at the Init event that each retry starts with, and so never backs off from a list
// that fails), and what other streams do. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/backoff.hpp"
#include "base/time.hpp"

namespace kubewatch::runtime {

enum class StreamSign {
  opened,
  init,      // an initial list began, or one of its objects came
  synced,    // the initial list is complete
  alive,     // a change after it, a bookmark
  outdated,  // the server's data went back: what was told is void until it is synced again
};

class StreamBackoff {
 public:
  explicit StreamBackoff(base::BackoffPolicy policy = {Duration{800}, Duration{30000}, 2.0, 0.5},
                         Duration reset_after = Duration{120000})
      : backoff_(policy), reset_after_(reset_after) {}

  void sign(TimePoint now, StreamSign sign);
  // The stream failed: how long to wait before it is started again.
  Duration fail(TimePoint now, base::Random& random);
  // In a row.
  std::uint32_t failures() const { return backoff_.failures(); }

 private:
  base::Backoff backoff_;
  Duration reset_after_;
  std::optional<TimePoint> opened_;
};

// What is known of a stream, for readiness, messages and metrics.
struct StreamHealth {
  std::string name;
  bool ready = false;  // had a complete state, and is not outdated
  std::optional<TimePoint> failing_since;
  std::string last_error;      // stays after it recovered; "" = none yet
  std::uint32_t failures = 0;  // in a row
  std::optional<TimePoint> retry_at;
  std::uint64_t changes = 0;
};

// Keeps a StreamHealth true. Pure.
class StreamMonitor {
 public:
  explicit StreamMonitor(std::string name) { health_.name = std::move(name); }
  void change();
  // alive and synced end a time of failing. True when ready or failing is not what it was.
  bool sign(StreamSign sign);
  bool failed(TimePoint now, const std::string& error, std::optional<Duration> retry_in);
  const StreamHealth& health() const { return health_; }

 private:
  StreamHealth health_;
};

}  // namespace kubewatch::runtime
