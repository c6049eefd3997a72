// A transport whose requests carry a login that has to be fetched first: they wait while it is
// fetched, and one that is answered 401 is sent once more when there is another login by then.
// What a login is worth decides LoginState. Internal to lib/client.
#pragma once

#include <functional>
#include <memory>

#include "client/login.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// `base` is the TLS material of the configuration; a login's certificate stands over it.
std::unique_ptr<http::Transport> make_login_transport(loop::EventLoop& loop,
                                                      std::unique_ptr<http::Transport> inner,
                                                      std::unique_ptr<LoginSource> source,
                                                      http::TlsOptions base);

}  // namespace kubewatch::client
