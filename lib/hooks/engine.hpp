// Runs loaded rules against one API server: streams, queue, hooks, outcomes. One Engine per
// process; cli starts, watches and ends it. A rule that cannot start (missing CRD, forbidden) waits
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "client/client.hpp"
#include "hooks/facts.hpp"
#include "hooks/hook_cgroups.hpp"
#include "hooks/hook_exchange.hpp"
#include "hooks/metrics.hpp"
#include "hooks/reporter.hpp"
#include "hooks/rule.hpp"
#include "hooks/rule_diff.hpp"
#include "hooks/shard_plan.hpp"
#include "hooks/trace_settings.hpp"
#include "hooks/trigger_request.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::hooks {

class Driver;
class StateStore;

// One finished run, for logs, `--once`, benchmarks and tests.
struct RunRecord {
  std::string id;
  std::string controller;
  std::string object;  // "Website shop/a"
  core::ObjectKey key;
  std::string reason;
  std::string reason_object;
  std::uint32_t attempt = 1;
  // done | not-yet | permanent | failed | timeout | invalid-output | write-failed | dropped |
  // incomplete
  std::string outcome;
  std::string message;
  std::optional<int> exit_code;
  std::optional<Duration> requeue_after;  // as the Result asked for
  Duration elapsed{0};
  double cpu = 0;  // seconds, of the hook and of children it waited for
  // Bytes, of its largest process; of a worker: so far. 0: not known, less than our own peak.
  std::uint64_t max_rss = 0;
  std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
  std::vector<std::string> writes;  // "created v1 ConfigMap shop/a", the first ones
  std::string stderr_tail;          // its last lines, masked
  std::string trace;                // its trace id; "" without tracing
};

// The outcome of what has only waited: its hook was not started, as a list may lack something.
inline constexpr std::string_view kIncomplete = "incomplete";

// Where HTTP triggers are listened for.
struct ListenAddress {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::vector<std::string> hosts;  // further names that requests may call us by
};

struct EngineOptions {
  std::size_t concurrency = 0;  // over all rules; 0 = no cap
  Duration shutdown_timeout{25000};
  // For what hooks that ended have to write: after it, and after the longest grace of what had to
  // be ended then.
  Duration last_writes{15000};
  std::string work_dir;  // private folder for KW_WORKDIR; "" = a fresh one under TMPDIR
  std::optional<ListenAddress> triggers;  // needed by rules with HTTP triggers
  std::optional<Duration> give_up_start;  // on_fatal when no server answers so long; absent: never
  bool steady = false;                    // resyncs come exactly in time: for tests
  // Leader election: nothing runs but what lead() names. Absent: everything runs from the start.
  std::optional<ShardPlan> shards;
  // How long before it leads objects may have gone whose onDelete the leader before may not have
  // got to: longer than it takes to find out that that one is gone.
  Duration hand_over{60000};
  // Of each rule, of those whose onDelete has failed: beyond it the oldest are given up.
  std::size_t most_failed_deletions = 100000;
  std::shared_ptr<StateStore> state;  // over restarts; null: nothing is kept
  std::optional<TraceTarget> traces;  // where spans go; absent: nowhere
  CgroupAccess cgroups;               // where hooks with limits run; by default in ours
};

struct EngineCallbacks {
  std::function<void(const RunRecord&)> on_run;
  // A run waits for a list that is whole (kIncomplete): once for each expression that fails.
  std::function<void(const RunRecord&)> on_held;
  // The start failed for good: no private folder; the address for triggers is taken or missing;
  // no server, within give_up_start.
  std::function<void(const Error&)> on_fatal;
  // An Event that was told, of a run that failed or by a Result; it is written a little later, or
  // counted into a series.
  OnEvent on_event;
  // A metric of a Result that was taken.
  OnMetric on_metric;
  // When each hook has ended, before anything of its output is written. Absent: nothing is kept.
  OnExchange on_exchange;
  // A kind that the rule needs has come since it was told to start: a controller of it starts now.
  std::function<void(const Rule&)> on_kinds_came;
};

struct EngineStatus {
  bool synced = false;  // every rule that can start has its caches
  // Synced, leading (something), nothing due or running now; waiting retries, requeues and resyncs
  // do not count.
  bool idle = false;
  // Not idle, and not only because objects that failed are tried again.
  bool at_work = false;
  // Not idle, and only because changes wait for the debounce of their rule.
  bool debounced = false;
  // Rules held by a missing kind, a forbidden list, or lists that failed for a while.
  std::size_t waiting_rules = 0;
  // Objects whose last run failed, or that wait for lists that are whole; they are tried again.
  std::size_t failing = 0;
  std::size_t parked = 0;
  std::size_t unfinished = 0;  // objects whose last run said "not yet" (exit 75)
  std::size_t given_up = 0;    // deletions whose onDelete has failed and does not come again
  std::size_t hooks = 0;       // processes at work now
  std::uint64_t runs = 0;      // ended since the start, those of controllers that are gone as well
  std::uint64_t failed_runs = 0;
};

// With several shards that narrow what is watched. Valid until the next turn of the loop.
struct SharedOut {
  const ShardPlan& plan;
  const std::vector<Rule>& rules;  // as they are shared out, some maybe with no shard here
  const std::set<std::size_t>& led;
};

class Engine {
 public:
  // loop and client must outlive it.
  Engine(loop::EventLoop& loop, client::Client& client, std::vector<Rule> rules,
         EngineOptions options, EngineCallbacks callbacks);
  ~Engine();

  void start();
  EngineStatus status() const;
  // What waiting_rules counts, and what it waits for: "web: the server has no kind ...".
  std::vector<std::string> why_not_started() const;
  EngineFacts facts() const;
  // For /metrics; `ready` is what /readyz says.
  std::string metrics_text(const EngineFacts& facts, bool ready) const;
  // Called after anything changes that status() shows.
  void on_progress(std::function<void()> callback);
  // Graceful shutdown: nothing new starts, running hooks end within the timeout; then `done`.
  void shut_down(std::function<void()> done);
  // After shut_down(): the objects whose runs were cut off by the deadline, "Website shop/a". What
  // they have written is incomplete.
  const std::vector<std::string>& cut_off() const;

  // Other rules from now on: unchanged controllers go on with their caches and queues; changed and
  // removed ones end after their running hooks; new and changed ones start, once those that they
  // would collide with have ended. Errors: unsupported (with several shards that narrow what is
  // watched).
  Result<RulePlan> reload(std::vector<Rule> rules);
  // For the control socket; valid until the next turn of the loop.
  std::vector<Driver*> drivers();
  std::optional<SharedOut> shared_out() const;
  // Runs what the request names, in the controllers of one document (metadata.name), or in all for
  // "". How many objects.
  std::size_t trigger(const std::string& document, const TriggerRequest& request,
                      runtime::Reason reason);
  // Where HTTP triggers are listened for; 0 = nowhere.
  std::uint16_t trigger_port() const;

  // With options.shards; the order of events is the caller's (runtime::Leadership). Caches are kept
  // warm before, unless the plan narrows what is watched.
  void lead(std::size_t shard);
  // Nothing of this shard starts any more; `ended` when none of its runs is left. Also while it
  // shuts down: not for a shard whose runs were cut off.
  void end_runs(std::size_t shard, std::function<void()> ended);
  // Who is asked about it, for facts(); outlives the engine.
  void ask_about_lead(std::function<std::optional<LeadTrouble>()> trouble);
  std::optional<LeadTrouble> lead_trouble() const;
  // The lead was lost: hooks get TERM now and KILL at `within` (0: at once), outcomes are dropped;
  // then `done`.
  void abandon(Duration within, std::function<void()> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::hooks
