// How many objects are in flight at once. Each takes a connection, and a handshake costs client and
// server more than a write: few are opened where the answers come quickly, all that are allowed
// where the time goes by on the way. Pure: is told, decides.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/time.hpp"

namespace kubewatch::cli {

class ApplyPace {
 public:
  // `most`: of --concurrency, 1 or more.
  explicit ApplyPace(std::size_t most) : most_(most), limit_(std::min(kFirst, most)) {}

  std::size_t limit() const { return limit_; }
  // One object was done; `took` from its first request on. Not of one that had to pause.
  void note(Duration took);
  // The server asked for a pause: less at once.
  void busy();

 private:
  static constexpr std::size_t kFirst = 8;

  std::size_t most_;
  std::size_t limit_;
  std::size_t noted_ = 0;  // since the limit is what it is
  Duration spent_{0};      // by these
};

}  // namespace kubewatch::cli
