// When the failures of a watch end a wait that depends on it: those that time does not mend. The
// watch itself never ends. Plain class, no I/O.
#pragma once

#include <functional>

#include "base/error.hpp"
#include "base/time.hpp"

namespace kubewatch::runtime {

// Another try cannot mend it: not allowed, or refused as what it is.
bool time_does_not_mend(const base::Error& error);

class GiveUp {
 public:
  explicit GiveUp(std::function<bool(const base::Error&)> hopeless = time_does_not_mend)
      : hopeless_(std::move(hopeless)) {}

  // Each failure as ReflectorCallbacks tells it; true: the wait is over. At the beginning the first
  // such answer counts. Of a watch that has worked before, an API server that was just started or a
  // login that was just renewed may say the same for a moment: only so many in a row do.
  bool failed(const base::Error& error, Duration retry_in, bool worked_before);
  void works() { in_a_row_ = 0; }

 private:
  std::function<bool(const base::Error&)> hopeless_;
  int in_a_row_ = 0;
};

}  // namespace kubewatch::runtime
