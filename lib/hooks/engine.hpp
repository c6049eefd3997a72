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
  Duration elapsed{0};
  std::size_t created = 0, configured = 0, unchanged = 0, deleted = 0;
};

struct EngineOptions {
  std::size_t concurrency = 0;  // over all rules; 0 = no cap
  Duration shutdown_timeout{25000};
  std::string work_dir;    // private folder for KW_WORKDIR; "" = a fresh one under TMPDIR
  bool fail_fast = false;  // unreachable server at start: give up (on_fatal)
};

struct EngineCallbacks {
  std::function<void(const RunRecord&)> on_run;
  // The start failed for good: no private folder; with fail_fast, no server.
  std::function<void(const Error&)> on_fatal;
};

struct EngineStatus {
  bool synced = false;  // every rule that can start has its caches
  // Synced, nothing due or running now; waiting retries, requeues and resyncs do not count.
  bool idle = false;
  std::size_t waiting_rules = 0;  // rules held by a missing kind or forbidden list
  std::size_t failing = 0;        // objects whose last run failed and that will be retried
  std::size_t parked = 0;
  std::size_t unfinished = 0;  // objects whose last run said "not yet" (exit 75)
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::hooks
