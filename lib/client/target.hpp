// Whether a kind and a key name one object, and the answer to a request that is refused before it
// is sent. For what is built on the client; its own requests are checked the same.
#pragma once

#include <functional>

#include "client/client.hpp"
#include "core/resource.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// Errors: invalid: the name, or the namespace of a namespaced kind, is missing or fits into no URL.
Result<void> check_target(const core::ResourceType& type, const core::ObjectKey& key);
Result<void> check_namespace(const core::ResourceType& type, const std::string& namespace_);

// Calls `done` from the loop, unless the result is destroyed before.
[[nodiscard]] PendingPtr refuse(loop::EventLoop& loop, Error error,
                                std::function<void(Error)> done);

}  // namespace kubewatch::client
