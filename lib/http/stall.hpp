// Whether a client still takes what it is sent: none for a minute, and it is to be given up.
// Decides only; whoever sends asks it now and then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace kubewatch::http {

class Stall {
 public:
  static constexpr Duration kLimit{60000};
  explicit Stall(TimePoint now) : since_(now) {}
  // `backlog`: Responder's. `sent`: all bytes so far, of who sends more while some are waiting.
  bool stalled(std::size_t backlog, TimePoint now, std::uint64_t sent = 0);

 private:
  TimePoint since_;
  std::int64_t last_ = 0;
};

}  // namespace kubewatch::http
