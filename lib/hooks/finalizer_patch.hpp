// Puts a rule's finalizer on an object, or takes it off. Other controllers do the same with theirs
// at the same moment; the tests of the patch notice that, and then the object is looked at again:
// no run has to fail, and no hook to run twice, because of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "core/meta.hpp"

namespace kubewatch::hooks {

struct FinalizerChange {
  core::ResourceType type;
  core::ObjectMeta meta;  // as it was seen; where the finalizer is taken off, with it
  std::string finalizer;
  std::string field_manager;
  bool add = false;
};

// The object's metadata with the change done. Absent: it is gone, or replaced by another one of its
// name; and where a finalizer was to be added, or dying.
using ChangedMeta = std::optional<core::ObjectMeta>;

// client must outlive `requests`, with which it all ends. Errors: the server's, among them that it
// does not serve the kind, as one of several may not yet; conflict (it keeps changing).
void change_finalizer(client::Client& client, client::InFlight& requests, FinalizerChange change,
                      std::function<void(Result<ChangedMeta>)> done);

}  // namespace kubewatch::hooks
