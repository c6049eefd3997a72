// Binds one Watcher to the client and one Store: keeps the store true, tells changes. Thin I/O.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  // retry_in 0: it goes another way at once (a list where a streaming list is refused).
  std::function<void(WatcherFailure, const Error&, Duration retry_in)> on_failure;
  std::function<void(const std::string& resource_version)> on_bookmark;
  // Whether changes carry previous_meta and previous_json; each costs a decompression and a parse.
  bool want_previous = true;
  // A warning for the first failure of each class (WatcherFailure) until the watch is well again,
  // with the kind and when it is tried again; further ones are only counted and told.
  bool log_failures = true;
  // After failures: it has told something again, or was not cut for a while.
  std::function<void()> on_works = nullptr;
  // The server's data went back (client/rewinds.hpp): what the cache holds is of a past that the
  // server does not have, until on_synced.
  std::function<void()> on_outdated = nullptr;
  // The server has answered: with a list, an open watch or one of its events, or an error of its
  // own. Before what follows from it.
  std::function<void()> on_answer = nullptr;
};

struct ReflectorStats {
  std::array<std::uint64_t, kWatcherFailures> failures{};  // by WatcherFailure
  std::uint64_t events = 0;
  std::uint64_t reconnects = 0;      // watches started, but for the first
  std::uint64_t skipped_events = 0;  // of unknown type, or with an object that did not parse
};

// What a subscriber is told, at its own pace: the newest state of each object that changed, so
// changes carry no previous state and states in between may be missing (runtime/change_feed).
struct SubscriberCallbacks {
  std::function<void(const StoreChange&)> on_change;
  // All of a full state has been told. gap: it was not this subscriber's first.
  std::function<void(bool gap)> on_synced;
};

// Destroying it ends it; may be done from inside its callbacks. The reflector may go first.
class Subscription {
 public:
  virtual ~Subscription() = default;
  // A paused subscriber keeps one entry per changed object and holds up nobody.
  virtual void pause() = 0;
  virtual void resume() = 0;
  // Objects with something to tell.
  virtual std::size_t pending() const = 0;
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

  // With a loaded cache: tells it (each object as added and initial, then synced) and watches from
  // where it was saved; what changed since comes as changes, after a 410 by a relist. One that was
  // saved outdated is compared with a list instead, and is outdated until then.
  void start();
  // The same, but a loaded cache is compared with a list instead of being watched on from where it
  // was saved: a second sync says that it is what the server has.
  void start_with_list();
  // The server has another version of the kind in the place of this one (served_kind.hpp): that is
  // listed, compared with what the cache holds, and watched from now on. Not from inside its own
  // callbacks.
  void go_on_as(core::ResourceType type);
  // As Watcher::on_server_silent(). Not from inside its own callbacks.
  void on_server_silent(TimePoint since);
  // Many may listen to one watch. One that comes late is told what is there first. Not from inside
  // on_change.
  [[nodiscard]] std::unique_ptr<Subscription> subscribe(SubscriberCallbacks callbacks);
  const Store& store() const;
  void add_index(const std::string& name, IndexKeys keys_of);
  // Once the first sync, of the server or of a loaded cache, is done and told, on_synced included;
  // at once when it is.
  void when_ready(std::function<void()> callback);
  // The cache as bytes, for a file that only its owner reads (base::write_file_atomic, 0600), and
  // back, before start(). Errors: Store's; a cache of another kind, namespace, selector or content
  // is refused.
  Result<void> save(const std::function<Result<void>(std::string_view)>& sink) const;
  Result<void> load(std::string_view bytes);
  const core::ResourceType& type() const;
  const std::string& namespace_name() const;
  // Since start() the server has told a full state or let this be watched: what is held is no
  // longer what a file says alone.
  bool answered() const;
  // From on_outdated to the next full state of the server; with a loaded cache that was saved in
  // between, from load() on.
  bool outdated() const;
  // When the server last said where it stands: an object or a bookmark of a watch, a full state.
  std::optional<TimePoint> heard() const;
  // Absent while all is well.
  std::optional<std::string> last_failure() const;
  // When the first failure of those came that it has not recovered from.
  std::optional<TimePoint> failing_since() const;
  ReflectorStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
