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
// The server's name has no address (a record that is yet to come, a resolver that is away), nobody
// took the connection, it was lost, nothing came in time, or what came is none of a server that is
// well: 429, 5xx, or a page, a redirect and the like in place of an answer. Not a page under 404:
// so it is where the address or its path is wrong.
bool may_come_back(const Error& error);

// The server said when to ask again (Retry-After). It is no time of ours then: what would else be
// asked at once waits as well.
bool is_told_to_wait(const Error& error);

// How long to wait before it is asked for again: the pause that grows, or longer where the server
// says so (Retry-After, and up to a tenth more, that not all come back at once), five minutes at
// most. For whoever has a backoff of its own, watches too.
Duration pause_before_next(const Error& error, base::Backoff& backoff, base::Random& random);

// Where nothing was answered yet: no other try can mend it. A certificate that is not trusted, a CA
// or a client certificate that cannot be used, a login that fails, something that does not talk
// HTTP. What an API server answered (403, 404) is its caller's to judge.
bool is_wrongly_set_up(const Error& error);

}  // namespace kubewatch::client
