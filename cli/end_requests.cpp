#include "cli/end_requests.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace kubewatch::cli {

EndRequests::Meaning EndRequests::told(int number) {
  const bool before = std::exchange(happened_, true);
  if (number == SIGHUP) return before ? Meaning::no_more : Meaning::first;
  if (std::exchange(interrupted_, true)) return Meaning::at_once;
  return before ? Meaning::no_more : Meaning::first;
}

void UntoldSignals::came(int number) {
  if (number == SIGHUP) {
    hangup_ = true;
  } else {
    ++interrupts_;
  }
}

void UntoldSignals::told(bool next_is_free) {
  interrupts_ = 0;
  hangup_ = false;
  next_is_free_ = next_is_free;
}

unsigned UntoldSignals::count() const {
  const unsigned interrupts = interrupts_;
  const unsigned free = next_is_free_ ? 1 : 0;
  return std::max(interrupts - std::min(interrupts, free), hangup_ ? 1U : 0U);
}

}  // namespace kubewatch::cli
