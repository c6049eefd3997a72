// A wait on live objects: one watch for each target (or for many names of one kind and namespace),
// all of them fed into one WaitJudge. What leaves a selection while its deletion is asked for is
// looked at by its name, and followed by it. While a watch fails nothing is met but what its last
// list says: what it saw before may be old. Thin I/O: outlives disconnects, expired versions,
// restarts, versions of a kind that are served no more, definitions that are made anew.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "client/client.hpp"
#include "runtime/reflector.hpp"
#include "runtime/wait_judge.hpp"

namespace kubewatch::runtime {

class WaitSet {
 public:
  struct Callbacks {
    // Something was told, or time has passed that matters: ask outcome(). From the loop, never from
    // inside a call; many changes of one turn come as one.
    std::function<void()> on_change;
    // Each state as it comes, with the next one perhaps there already: outcome() may be asked from
    // inside. May be empty.
    std::function<void()> on_state;
    // Each failed try of a watch, with when it is tried again; may be empty.
    std::function<void(const std::string& what, const ReflectorStats&, WatcherFailure, const Error&,
                       Duration retry_in)>
        on_failure;
    // The server has the kind in another version only, and it is gone on with that; may be empty.
    std::function<void(const std::string& what, const core::Gvk& before, const core::Gvk& now)>
        on_version;
    // The same version of the kind has another plural or scope now, and it is gone on with that;
    // may be empty.
    std::function<void(const std::string& what, const core::ResourceType& now)> on_moved;
  };

  // `client` and `random` must outlive it. Not to be destroyed from inside its callbacks.
  WaitSet(client::Client& client, WaitGoal goal, WatcherOptions options, base::Random& random,
          Callbacks callbacks);
  ~WaitSet();
  WaitSet(const WaitSet&) = delete;
  WaitSet& operator=(const WaitSet&) = delete;

  // Before start() or later; after start() its watch begins with the next start().
  std::size_t add(WaitTarget target);
  // Starts the watches of all targets that have none yet.
  void start();
  // The first list of every target is in: a write made from now on cannot be missed.
  bool synced() const;
  // The answer of a write to a named target: only this state and later ones count.
  void expect(std::size_t target, const Json& written);

  // `lists_suffice`: what each list has told counts, whatever became of the watch behind it.
  WaitOutcome outcome(bool lists_suffice = false);
  // A failure that another try cannot mend (forbidden, not logged in, refused as invalid; a kind
  // that has namespaces now, of which none was asked for; not_found: the deletion of what the
  // server has no kind of), or that the watch has not recovered from; null when there is none.
  const Error* hopeless() const;
  const Error* failure() const;
  const WaitJudge& judge() const;
  std::vector<WaitedObject> report() const { return judge().report(); }
  std::string summary() const { return judge().summary(); }
  // As the watch knows it; absent when it does not exist.
  std::optional<Json> object(const WaitedObject& of) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
