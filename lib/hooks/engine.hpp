// Runs loaded rules against one API server: streams, queue, hooks, outcomes. One Engine per
// process; cli starts, watches and ends it. A rule that cannot start (missing CRD, forbidden) waits
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "client/client.hpp"
#include "hooks/rule.hpp"
#include "hooks/run_trace.hpp"
#include "hooks/shard_plan.hpp"

namespace kubewatch::hooks {

// One finished run, for logs, `--once`, benchmarks and tests.
struct RunRecord {
  std::string id;
  std::string controller;
  std::string object;  // "Website shop/a"
  std::string reason;
  std::uint32_t attempt = 1;
  std::string
      outcome;  // done | not-yet | permanent | failed | timeout | invalid-output | write-failed
  std::string message;
  std::optional<int> exit_code;
  std::optional<Duration> requeue_after;  // as the Result asked for
  Duration elapsed{0};
  std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
};

struct EngineOptions {
  std::size_t concurrency = 0;  // over all rules; 0 = no cap
  Duration shutdown_timeout{25000};
  Duration last_writes{15000};  // after it, for what hooks that ended have to write
  std::string work_dir;         // private folder for KW_WORKDIR; "" = a fresh one under TMPDIR
  bool fail_fast = false;       // unreachable server at start: give up (on_fatal)
  bool steady = false;          // resyncs come exactly in time: for tests
  // Leader election: nothing runs but what lead() names. Absent: everything runs from the start.
  std::optional<ShardPlan> shards;
};

struct EngineCallbacks {
  std::function<void(const RunRecord&)> on_run;
  // The start failed for good: no private folder; with fail_fast, no server.
  std::function<void(const Error&)> on_fatal;
  // When each hook has ended, before anything of its output is written. Absent: nothing is kept.
  OnTrace on_trace;
};

struct EngineStatus {
  bool synced = false;  // every rule that can start has its caches
  // Synced, leading (something), nothing due or running now; waiting retries, requeues and resyncs
  // do not count.
  bool idle = false;
  std::size_t waiting_rules = 0;  // rules held by a missing kind or forbidden list
  std::size_t failing = 0;        // objects whose last run failed and that will be retried
  std::size_t parked = 0;
  std::size_t unfinished = 0;  // objects whose last run said "not yet" (exit 75)
  std::size_t hooks = 0;       // processes at work now
  std::uint64_t runs = 0;
  std::uint64_t failed_runs = 0;
};

class Engine {
 public:
  // loop and client must outlive it.
  Engine(loop::EventLoop& loop, client::Client& client, std::vector<Rule> rules,
         EngineOptions options, EngineCallbacks callbacks);
  ~Engine();

  void start();
  EngineStatus status() const;
  // Called after anything changes that status() shows.
  void on_progress(std::function<void()> callback);
  // product.md "shutdown": nothing new starts, running hooks end within the timeout; then `done`.
  void shut_down(std::function<void()> done);
  // After shut_down(): the objects whose runs were cut off by the deadline, "Website shop/a". What
  // they have written is incomplete.
  const std::vector<std::string>& cut_off() const;

  // With options.shards; the order of events is the caller's (runtime::Leadership). Caches are kept
  // warm before, unless the plan narrows what is watched.
  void lead(std::size_t shard);
  // Nothing of this shard starts any more; `ended` when none of its runs is left.
  void end_runs(std::size_t shard, std::function<void()> ended);
  // The lead was lost: hooks get TERM now and KILL at `within`, outcomes are dropped; then `done`.
  void abandon(Duration within, std::function<void()> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::hooks
