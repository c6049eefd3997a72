// Whether requests that get no answer are proof enough that the server is away, so that watches
// which only seem to be well are to be opened anew. Pure: the ends of requests come in with times.
// It knows no watches: a stream that has told something since is none of its business (Watcher).
#pragma once

#include <optional>

#include "base/time.hpp"

namespace kubewatch::hooks {

class ServerSilence {
 public:
  // From the beginning of the first request without an answer: a refused connection may be a
  // restart of the server, whose watches end by themselves.
  static constexpr Duration kProof{8000};
  // A server that takes the time of every write for its webhooks is not asked more often, and
  // failures further apart are not one silence: nothing was asked in between.
  static constexpr Duration kAgain{60000};

  enum class End { answered, no_answer };
  // A request ended now that took so long. Given: what has said nothing since then is to be opened
  // anew. One answer to a request that was on its way as long proves that the server is there.
  std::optional<TimePoint> ended(End how, Duration took, TimePoint now);

 private:
  std::optional<TimePoint> answered_;
  std::optional<TimePoint> failed_;
  std::optional<TimePoint> silent_since_;
  std::optional<TimePoint> told_;
};

}  // namespace kubewatch::hooks
