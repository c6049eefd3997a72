// How long a connection may be silent before its other end is asked for, how often that is asked
// again, and how long that end may leave what was sent unacknowledged. Numbers only.
#pragma once

namespace kubewatch::http {

inline constexpr int kUserTimeoutMs = 30000;
// The kernel counts a reader that is there and takes nothing (a window of zero) as well: who serves
// gives that one up itself (Stall), in its own time and with its own words.
inline constexpr int kServedUserTimeoutMs = 120000;
inline constexpr int kKeepAliveIdleSeconds = 30;
// The kernel looks at the time above only when it asks again: by itself after 75 seconds.
inline constexpr int kKeepAliveIntervalSeconds = 10;

}  // namespace kubewatch::http
