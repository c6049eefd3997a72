// Why an object runs, or does not: for each rule one answer, made of facts that driver, queue and
// caches give. Pure. The order of the questions is that of an event's way: is the rule at work, is
// the object in its selection, does it pass the filter, did its last change count, what holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/time.hpp"
#include "hooks/next_step.hpp"
#include "hooks/rule.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::hooks {

// The last change of the object that its rule did not count.
struct IgnoredChange {
  std::string resource_version;
  Duration ago{0};
};

struct LastRun {
  std::string outcome;
  std::string message;
  Duration ago{0};
  bool by_state = false;  // known by --state alone: outcome says all, and `ago` is its beginning
};

// Its runs cause each other, and those are put off.
struct SlowedLoop {
  std::vector<std::string> paths;  // that keep changing; empty: the hook prints the same each time
  bool compared = true;            // false: nothing that it printed or sent is known
  Duration delay{0};               // of the next one
};

struct ExplainFacts {
  TimePoint now{};
  // The rule.
  std::string waits_for;   // why its kinds are not resolved; "" = they are
  bool blocked = false;    // a kind may not be listed
  std::string not_listed;  // the last error of a kind that was not listed yet, "" = none
  bool started = false;
  bool outdated = false;  // held until its kinds are listed anew: the server's data went back
  bool stopping = false;
  bool may_write = true;
  std::string lead_trouble;  // why this instance could not lead; "" = nothing is known
  bool owns_shard = true;    // this instance leads the object's shard
  bool sharded = false;      // there are several
  // The object.
  bool cached = false;           // in the cache of the selection
  bool guarded_outside = false;  // outside of it, with our finalizer
  bool deleted = false;          // one of that name is gone, and its onDelete run has yet to end
  // As the server has it; only looked for when it is not cached. Null: the server has none.
  const Json* live = nullptr;
  std::string live_error;  // it could not be asked
  core::ObjectMeta meta;   // of the cached object
  bool reduced = false;    // only its metadata is cached, though the rule wants all of it
  std::optional<bool> passes_filter;
  std::string filter_error;
  std::vector<std::string> lacks;    // of the lists that its run is given
  std::vector<std::string> failing;  // watches of the rule that do not work now: which, why
  std::optional<IgnoredChange> ignored;
  // The queue.
  std::optional<runtime::KeyState> queued;
  std::string held_by;          // its hook cannot be run for now: why
  std::string behind;           // what it waits for that its last run wrote; "" = nothing
  std::size_t held_keys = 0;    // of this rule, running
  std::size_t used_slots = 0;   // over all rules
  std::size_t slot_limit = 0;   // 0 = no cap
  std::size_t ready_ahead = 0;  // due and waiting for a place
  std::optional<Duration> slow_retry_in;
  std::optional<Duration> schedule_in;  // absent: the rule has no schedule, or no time is to come
  std::optional<SlowedLoop> loop;
  std::optional<LastRun> last;

  // There is something to be said of it without the server.
  bool is_known() const { return cached || guarded_outside || deleted; }
};

struct Explanation {
  // waiting-for-kind | forbidden | syncing | stopping | standby | other-shard | not-found |
  // not-selected | filtered | deleting | reduced | running | due | debounced | slowed | backoff
  // | requeued | resync | scheduled | parked | limited | waiting-for-worker | incomplete | behind
  // | stale | idle
  std::string state;
  std::string text;                  // one sentence
  std::vector<std::string> details;  // further sentences
  bool matched = false;
  std::optional<Duration> next_run;  // absent: only a change runs it
};

Explanation explain(const Rule& rule, const ExplainFacts& facts);
// Why a namespace is none of the rule's; "" where it is one.
std::string outside_namespaces(const StreamRule& stream, const std::string& namespace_);
Explanation not_selected(std::string text);
// Of what belongs to a shard that is not led here; `lead_trouble` as in the facts.
Explanation other_shard(const std::string& lead_trouble);

Json to_json(const Explanation& explanation);

}  // namespace kubewatch::hooks
