// One open watch: bytes to events, and exactly one end. Internal to lib/client.
#pragma once

#include "client/sender.hpp"

namespace kubewatch::client {

// `sender` and `transport` must outlive the result.
PendingPtr start_watch(Sender& sender, http::Transport& transport, Operation operation,
                       WatchHandlers handlers);

}  // namespace kubewatch::client
