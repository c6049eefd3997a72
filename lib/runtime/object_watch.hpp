// Keeps one object by name up to date, with all that the watcher does for a collection: it outlives
// disconnects, expired versions and restarts, and absence is a state like any other.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/json.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::runtime {

class ObjectWatch {
 public:
  struct Callbacks {
    // After the first sync, and at each change after that.
    std::function<void()> on_change;
    // Each failed try of the watch, with when it is tried again; may be empty.
    std::function<void(WatcherFailure, const Error&, Duration retry_in)> on_failure;
    std::function<void()> on_works;  // after failures; may be empty
  };

  // Precondition: client::check_target(type, key): the watch of no name would be of any object.
  // `client` and `random` must outlive it. `options` as for a Reflector; its field selector is
  // replaced by the name. Not to be destroyed from inside its callbacks.
  ObjectWatch(client::Client& client, const core::ResourceType& type, const core::ObjectKey& key,
              WatcherOptions options, base::Random& random, Callbacks callbacks);

  void start() { reflector_.start(); }
  // Null: it does not exist, or nothing is known yet (see synced).
  const Json* object() const { return object_ ? &*object_ : nullptr; }
  // Only the metadata of object() is known (StoredObject::reduced).
  bool reduced() const { return reduced_; }
  bool synced() const { return synced_; }
  bool seen() const { return seen_; }  // it existed at some time
  // The last failure; null while the watch works.
  const Error* failure() const {
    return failure_ && reflector_.failing_since() ? &*failure_ : nullptr;
  }
  ReflectorStats stats() const { return reflector_.stats(); }

 private:
  ReflectorCallbacks reflector_callbacks();
  void on_change(const StoreChange& change);

  Callbacks callbacks_;
  std::optional<Json> object_;
  std::optional<Error> failure_;
  bool reduced_ = false;
  bool synced_ = false;
  bool seen_ = false;
  Reflector reflector_;
};

}  // namespace kubewatch::runtime
