// One login for all transports of a process that log in as the same user: the gateway of each rule
// and the cache server have a transport of their own, and the program would run for each of them;
// an identity provider that takes a refresh token once would log the others out. client-go keeps
// its authenticators in the same way. Internal to lib/client.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/login.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// One transport's access to the source that all who name this key on this loop share; `make` makes
// it for the first of them, and it goes with the last. Errors: those of `make`.
using MakeLoginSource = std::function<Result<std::unique_ptr<LoginSource>>()>;
Result<std::unique_ptr<LoginSource>> share_login_source(loop::EventLoop& loop,
                                                        const std::string& key,
                                                        const MakeLoginSource& make);

}  // namespace kubewatch::client
