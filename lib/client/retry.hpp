// Whether a command sends the same request again after a refusal, and when: client-go's rules, with
// an end. Not for controllers and watches, which have their own backoff. Pure.
#pragma once

#include <optional>

#include "base/backoff.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
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

// Of the first answer that a command wants: whether it is worth asking for again by whoever waits.
// Nobody took the connection, it was lost, nothing came in time, or somebody said that the server
// is away or busy (429, 502, 503, 504).
bool may_come_back(const Error& error);

// How long to wait before it is asked for again: the pause that grows, or longer where the server
// says so (Retry-After), five minutes at most.
Duration pause_before_next(const Error& error, base::Backoff& backoff, base::Random& random);

// Where nothing was answered yet: no other try can mend it. A certificate that is not trusted, a CA
// or a client certificate that cannot be used, a name that nobody knows, something that does not
// talk HTTP.
bool is_wrongly_set_up(const Error& error);

}  // namespace kubewatch::client
