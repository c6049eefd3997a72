#include "client/retry.hpp"

#include <algorithm>

namespace kubewatch::client {
namespace {

constexpr Duration kFirstPause{500};
constexpr Duration kLongestPause{8000};
constexpr int kMostDoublings = 6;
constexpr Duration kLongestAsked{300000};
constexpr double kSpread = 0.1;

Duration pause_after(int attempt) {
  return std::min(kFirstPause * (1 << std::min(attempt, kMostDoublings)), kLongestPause);
}

std::optional<Duration> within(Duration delay, Duration spent, Duration budget) {
  return spent + delay > budget ? std::nullopt : std::optional(delay);
}

}  // namespace

std::optional<Duration> retry_delay(const Error& error, int attempt, Duration spent,
                                    Duration budget) {
  if (error.status() == nullptr) return std::nullopt;
  const int code = error.status()->code;
  if (code != 429 && code != 503 && code != 504) return std::nullopt;
  Duration delay = pause_after(attempt);
  // "At once" is no pause to go by: the growing one has an end.
  if (error.status()->retry_after_seconds.value_or(0) > 0) {
    delay = std::chrono::seconds(*error.status()->retry_after_seconds);
  }
  return within(delay, spent, budget);
}

std::optional<Duration> reconnect_delay(const Error& error, int attempt, Duration spent,
                                        Duration budget) {
  if (!error.is_unreachable()) return std::nullopt;
  return within(pause_after(attempt), spent, budget);
}

bool may_come_back(const Error& error) {
  if (error.status() != nullptr) return error.status()->code == 429 || error.status()->code >= 500;
  return error.is_disconnect() || error.is_unresolved() || error.kind() == ErrorKind::timeout ||
         error.kind() == ErrorKind::unavailable;
}

bool is_told_to_wait(const Error& error) {
  return error.status() != nullptr && error.status()->retry_after_seconds.has_value();
}

Duration pause_before_next(const Error& error, base::Backoff& backoff, base::Random& random) {
  const Duration pause = backoff.fail(random);
  if (!is_told_to_wait(error)) return pause;
  const double asked =
      1000.0 * *error.status()->retry_after_seconds * (1.0 + kSpread * random.unit());
  const double most = static_cast<double>(kLongestAsked.count());
  return std::max(pause, Duration(static_cast<Duration::rep>(std::clamp(asked, 0.0, most))));
}

bool is_wrongly_set_up(const Error& error) {
  const bool ours = error.is_unreachable() || error.is_unauthorized() ||  // as a login that fails
                    error.kind() == ErrorKind::invalid;
  return ours && error.status() == nullptr && !may_come_back(error);
}

}  // namespace kubewatch::client
