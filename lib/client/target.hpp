// Whether a kind and a key name one object, and the answer to a request that is refused before it
// is sent. For what is built on the client; its own requests are checked the same.
#pragma once

#include <functional>

#include "base/json_fwd.hpp"
#include "client/client.hpp"
#include "core/resource.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// Errors: invalid: the name, or the namespace of a namespaced kind, is missing or fits into no URL.
Result<void> check_target(const core::ResourceType& type, const core::ObjectKey& key);
Result<void> check_namespace(const core::ResourceType& type, const std::string& namespace_);

// Of what a DELETE was answered with: nothing of the object is left. Else it is dying. Many kinds
// are answered with the object as it was, without a deletionTimestamp; an object that dies at once
// with one, and no time.
bool is_gone(const Json& answer);

// Calls `done` from the loop, unless the result is destroyed before.
[[nodiscard]] PendingPtr refuse(loop::EventLoop& loop, Error error,
                                std::function<void(Error)> done);

}  // namespace kubewatch::client
