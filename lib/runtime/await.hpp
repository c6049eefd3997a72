// Waits until one object is as asked. The watch under it outlives disconnects and expired versions;
// the wait ends with what the condition says, a deadline, an error that time does not mend, or by
// being destroyed.
#pragma once

#include <functional>
#include <optional>

#include "base/json.hpp"
#include "client/client.hpp"
#include "core/params.hpp"
#include "runtime/condition.hpp"
#include "runtime/watcher.hpp"

namespace kubewatch::runtime {

struct AwaitOptions {
  Duration deadline{0};  // 0 = none
  WatcherOptions watcher;
  // Errors that end the wait, once its watch has worked only when they stay (GiveUp); all others
  // are tried again until the deadline. Empty: those that another try cannot mend (forbidden, not
  // logged in, refused as invalid or unsupported).
  std::function<bool(const Error&)> gives_up;
};

// How a wait ended. Not an Error: the server answered, and this is what it says.
struct Awaited {
  bool met = false;            // else the condition has failed for good
  std::string reason;          // why it failed
  std::optional<Json> object;  // as it was then; absent: it does not exist
};
// Errors: timeout (naming what is seen instead, and why nothing newer is), what gives_up chooses,
// invalid (a name, or the namespace of a namespaced kind, is missing), and too_large: of the object
// only the metadata is kept, which says nothing of a condition that reads more (Condition::reads).
using AwaitDone = std::function<void(Result<Awaited>)>;

// `client` and `random` must outlive the result; destroying that cancels, also from inside `done`.
// `done` comes from the loop, once.
[[nodiscard]] client::PendingPtr await_condition(client::Client& client,
                                                 const core::ResourceType& type,
                                                 const core::ObjectKey& key, Condition condition,
                                                 AwaitOptions options, base::Random& random,
                                                 AwaitDone done);

// Deletes, then waits until the object that was deleted is gone: its finalizers ran, or its name is
// another object's. An object that is not there counts as gone; one of a kind that the server does
// not serve does not. Errors: those of the delete, of
// await_condition, and invalid for a dry run, which deletes nothing.
[[nodiscard]] client::PendingPtr delete_and_finalize(
    client::Client& client, const core::ResourceType& type, const core::ObjectKey& key,
    const core::DeleteParams& params, AwaitOptions options, base::Random& random, AwaitDone done);

}  // namespace kubewatch::runtime
