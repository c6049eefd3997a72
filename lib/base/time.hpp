// Time as the deciding classes see it: an argument. Steady time for deadlines, wall time for what
// is written into objects. Nothing here reads a clock; loop::EventLoop does.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::base {

using Duration = std::chrono::milliseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// "2026-01-02T03:04:05Z": metav1.Time, seconds, UTC.
std::string format_rfc3339(WallTime at);
// "2026-01-02T03:04:05.000006Z": metav1.MicroTime.
std::string format_rfc3339_micro(WallTime at);
// Errors: invalid.
Result<WallTime> parse_rfc3339(std::string_view text);

// Go's duration syntax without ns and us fractions we cannot keep: "1h30m", "1.5s", "500ms", "0s".
// A bare "0" is allowed, other bare numbers are not. Errors: invalid; negative durations are
// refused.
Result<Duration> parse_duration(std::string_view text);
// The shortest exact form: "1h30m0s" is written "1h30m".
std::string format_duration(Duration duration);

// kubectl's AGE column: "5s", "3m20s", "5h", "2d", "400d", "<invalid>" when negative beyond a
// second.
std::string format_age(std::chrono::seconds age);

}  // namespace kubewatch::base

namespace kubewatch {
using base::Duration;
using base::TimePoint;
using base::WallTime;
}  // namespace kubewatch
