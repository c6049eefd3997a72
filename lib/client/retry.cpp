#include "client/retry.hpp"

#include <algorithm>

namespace kubewatch::client {
namespace {

constexpr Duration kFirstPause{500};
constexpr Duration kLongestPause{8000};
constexpr int kMostDoublings = 6;

}  // namespace

std::optional<Duration> retry_delay(const Error& error, int attempt, Duration spent,
                                    Duration budget) {
  if (error.status() == nullptr) return std::nullopt;
  const int code = error.status()->code;
  if (code != 429 && code != 503 && code != 504) return std::nullopt;
  Duration delay = std::min(kFirstPause * (1 << std::min(attempt, kMostDoublings)), kLongestPause);
  if (error.status()->retry_after_seconds) {
    delay = std::chrono::seconds(std::max(*error.status()->retry_after_seconds, 0));
  }
  if (spent + delay > budget) return std::nullopt;
  return delay;
}

}  // namespace kubewatch::client
