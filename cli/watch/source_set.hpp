// What a watch is of: each kind in each namespace of each context, one reflector each; kinds that
// the server does not have yet are looked for again and again. Thin: asks, and tells.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/manifests.hpp"
#include "cli/session.hpp"
#include "cli/watch/checkpoint.hpp"
#include "cli/watch/watch_stats.hpp"
#include "cli/watch/watched.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::cli::watch {

// One TYPE word with the names that were given for it.
struct Wanted {
  std::string type;
  std::vector<std::string> names;  // empty: all
  std::string namespace_;          // of a manifest; "": as the flags say
  std::string text{};              // how the type is told where nobody wrote `type`
  const std::string& shown() const { return text.empty() ? type : text; }
};

// "pods,deployments", "pods" "a" "b", "pod/a" "deployment/b". Errors: invalid, in kubectl's words.
Result<std::vector<Wanted>> wanted_of(const std::vector<std::string>& words);
// The objects of manifests. `asked`: the namespace of -n, "" when not given. Errors: invalid (one
// of them is of another namespace).
Result<std::vector<Wanted>> wanted_of(const std::vector<Manifest>& manifests,
                                      const std::string& asked);

// Which of the wanted kinds a server has, and which it has not.
struct Lookup {
  std::vector<std::pair<Wanted, core::ResourceType>> found;
  std::vector<Wanted> missing;
  // There, but it cannot be watched: waiting does not help. It is in neither of the others.
  std::vector<Error> refused;
};
Lookup look_up(const client::ResourceMap& map, const std::vector<Wanted>& wanted);

struct SourceOptions {
  runtime::WatcherOptions stream;  // the selectors in it as well
  runtime::StoreOptions store;
  std::vector<std::string> namespaces;  // empty: that of the configuration
  bool all_namespaces = false;
  bool want_previous = true;
  bool wait_for_types = true;
  CheckpointParts loaded;  // from the file of the run before
};

struct SourceCallbacks {
  // `resumed`: it goes on from a checkpoint, and its initial changes were told by an earlier run.
  std::function<void(const SourceInfo&, const runtime::StoreChange&, bool resumed)> on_change;
  // All sources of this kind and namespace; gap: after a relist.
  std::function<void(const SourceInfo&, bool gap, bool resumed)> on_synced;
  std::function<void(const SourceInfo&, runtime::WatcherFailure, const Error&)> on_failure;
  // types() has more than before, and none of them has told anything yet.
  std::function<void()> on_types;
  // A source goes on in this version of its kind.
  std::function<void(const core::ResourceType&)> on_version;
  // For people, on stderr.
  std::function<void(const std::string&)> on_note;
  // Nothing is watched and nothing is waited for any more: all that was asked for was refused, or a
  // server cannot be talked to as it is configured.
  std::function<void(const Error&)> on_nothing_left;
  // Of a kind that will be watched, before its first change: it calls back when it may go on.
  std::function<void(Session&, const core::ResourceType&, std::function<void()> go_on)> prepare;
};

class SourceSet {
 public:
  // `sessions` (by context; "" where there is one) must outlive it.
  SourceSet(std::vector<std::pair<std::string, Session*>> sessions, std::vector<Wanted> wanted,
            SourceOptions options, SourceCallbacks callbacks);
  ~SourceSet();

  // Asks each server for its kinds, and starts what is there. One that is away is asked again and
  // again, and so told; none waits for another. One that cannot be talked to, or has not what was
  // asked for, is told as well, by on_nothing_left where there is no other, also from inside: of
  // discovery; invalid (a kind that cannot be watched); of a checkpoint; not_found unless types are
  // waited for.
  void start();
  // By "context/deployments.apps".
  std::map<std::string, SourceStats> stats() const;
  // What was never read whole, or is not watched at this moment, by name; kinds that the server
  // does not have among it.
  std::vector<std::string> unread() const;
  // What each source knows now; the others keep what was loaded. Errors: of a store.
  Result<CheckpointParts> save() const;
  // Kinds that were found, each once.
  std::vector<core::ResourceType> types() const;

 private:
  struct Source;
  struct Server;
  void ask_first(Server& server, Duration after);
  void first_look(Server& server, const client::ResourceMap& map);
  void is_away(Server& server, const Error& error);
  Result<void> look(Server& server, const client::ResourceMap& map);
  void look_later(Server& server, const client::ResourceMap& map);
  Result<void> add(Server& server, const Wanted& wanted, const core::ResourceType& type);
  Result<void> add_one(Server& server, SourceInfo info, std::set<std::string> names, bool pinned);
  using Discovered = Result<std::shared_ptr<const client::ResourceMap>>;
  static void discover(Server& server, client::PendingPtr& request, loop::Timer& turn,
                       std::function<void(const Discovered&)> then);
  void look_again(Server& server);
  void begin(Source& source);
  // Those from `first` on.
  void begin_all(std::size_t first);
  runtime::ReflectorCallbacks callbacks_of(Source& source);
  void synced(Source& source, bool gap);
  void note_missing(const Source& source) const;
  static void note_versions(Server& server, const Lookup& seen);
  // In a turn of its own, unless it is gone by then: `then` gets what is not watched any more.
  void take_out(Source& source, std::function<void(std::unique_ptr<Source>)> then);
  void split(Source& source);
  void look_for_version(Source& source);
  static Error in_context(const std::string& context, Error error);
  void go_on_as(Source& source, const core::ResourceType& type);
  void watch_anew(Source& source, const core::ResourceType& type);
  bool all_refused() const;
  void note_foreign(const std::string& other);

  std::vector<std::unique_ptr<Server>> servers_;
  SourceOptions options_;
  SourceCallbacks callbacks_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::set<std::string> watched_;  // parts of the checkpoint, each with its version
  std::size_t groups_ = 0;
  std::set<std::string> foreign_;  // servers of the checkpoint that were told
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::cli::watch
