// One list answer on the wire: bytes to items, and exactly one end. Internal to lib/client.
#pragma once

#include "client/sender.hpp"

namespace kubewatch::client {

// `sender` and `transport` must outlive the result.
PendingPtr start_list(Sender& sender, http::Transport& transport, Operation operation,
                      ItemCallback on_item, ListCallback done);

}  // namespace kubewatch::client
