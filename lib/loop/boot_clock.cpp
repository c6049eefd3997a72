#include "loop/boot_clock.hpp"

#include <time.h>

namespace kubewatch::loop {

TimePoint boot_now() {
  timespec at{};
  clock_gettime(CLOCK_BOOTTIME, &at);
  return TimePoint(Duration(static_cast<std::int64_t>(at.tv_sec) * 1000 + at.tv_nsec / 1000000));
}

}  // namespace kubewatch::loop
