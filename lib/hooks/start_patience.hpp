// How long a start waits for a server that cannot be asked what kinds it has. Plain class: time is
// an argument; who asks is the engine.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::hooks {

// Of a process that ends by itself, for the server and for what it is to list.
inline constexpr Duration kPatienceAtStart{10000};

class StartPatience {
 public:
  // Absent: for ever.
  explicit StartPatience(std::optional<Duration> limit) : limit_(limit) {}

  // After each failure. Who is not let in will not be by waiting.
  bool is_over(const Error& error, TimePoint now) {
    if (!limit_) return false;
    if (!since_) since_ = now;
    return error.is_unauthorized() || error.is_forbidden() || now - *since_ >= *limit_;
  }

 private:
  std::optional<Duration> limit_;
  std::optional<TimePoint> since_;  // the first failure
};

}  // namespace kubewatch::hooks
