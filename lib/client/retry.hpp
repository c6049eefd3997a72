// Whether a command sends the same request again after a refusal, and when: client-go's rules, with
// an end. Not for controllers and watches, which have their own backoff. Pure.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "base/time.hpp"

namespace kubewatch::client {

// What one request may wait in all.
inline constexpr Duration kRetryBudget{60000};

// Absent: it is not to be sent again. The server refused it without doing it (429), or the request
// is one that may be done twice, a read or an apply (503 and 504: do not ask for others). `spent`:
// waited so far. A Retry-After above 0 wins over the growing pause.
std::optional<Duration> retry_delay(const Error& error, int attempt, Duration spent,
                                    Duration budget = kRetryBudget);

// The same for a connection that broke off before the answer: whether the server did it nobody
// knows, so only for what may be done twice, and only to a server that has answered before (a wrong
// address is told at once). Absent for every other error.
std::optional<Duration> reconnect_delay(const Error& error, int attempt, Duration spent,
                                        Duration budget = kRetryBudget);

}  // namespace kubewatch::client
