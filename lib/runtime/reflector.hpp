// Binds one Watcher to the client and one Store: keeps the store true, tells changes. Thin I/O.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "runtime/store.hpp"
#include "runtime/watcher.hpp"

namespace kubewatch::runtime {

struct ReflectorCallbacks {
  // Each net change, after the store has it. A relist's changes come in one turn of the loop.
  std::function<void(const StoreChange&)> on_change;
  // The first sync is done; then again after each relist (gap true: something may have been
  // missed).
  std::function<void(bool gap)> on_synced;
  // Each failure, with when it is tried again. For a missing kind (404) or a forbidden one (403) as
  // well.
  std::function<void(WatcherFailure, const Error&, Duration retry_in)> on_failure;
  std::function<void(const std::string& resource_version)> on_bookmark;
  // Whether changes carry previous_meta and previous_json; each costs a decompression and a parse.
  bool want_previous = true;
  // A warning for the first failure of each class (WatcherFailure) until the watch is well again,
  // with the kind and when it is tried again; further ones are only counted and told.
  bool log_failures = true;
};

struct ReflectorStats {
  std::array<std::uint64_t, kWatcherFailures> failures{};  // by WatcherFailure
  std::uint64_t events = 0;
  std::uint64_t reconnects = 0;      // watches started, but for the first
  std::uint64_t skipped_events = 0;  // of unknown type, or with an object that did not parse
};

class Reflector {
 public:
  // `client` and `random` must outlive it. namespace_ "" = all, or cluster-scoped. Of `store` the
  // type, content and previous are set from the other arguments. Not to be destroyed from inside
  // its own callbacks.
  Reflector(client::Client& client, core::ResourceType type, std::string namespace_,
            WatcherOptions options, StoreOptions store, base::Random& random,
            ReflectorCallbacks callbacks);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  const Store& store() const;
  const core::ResourceType& type() const;
  const std::string& namespace_name() const;
  // Absent while all is well.
  std::optional<std::string> last_failure() const;
  ReflectorStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
