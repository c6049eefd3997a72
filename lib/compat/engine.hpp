// Runs the hooks of a folder as shell-operator would: asks each for its configuration, watches what
// they bind to, queues and runs them. One per process, in place of hooks::Engine; cli starts,
// watches and ends it. A hook that cannot run is named and left out, the others run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "client/client.hpp"
#include "compat/task_queue.hpp"
#include "hooks/engine.hpp"

namespace kubewatch::compat {

struct EngineOptions {
  std::string folder;
  std::size_t concurrency = 0;    // processes at the same time over all queues; 0 = no cap
  Duration hook_timeout{600000};  // 0 = none
  Duration grace{5000};
  Duration shutdown_timeout{25000};
  base::BackoffPolicy retry = kRetryBackoff;
  std::optional<Duration> give_up_start;  // on_fatal when no server answers so long; absent: never
  bool dry = false;                       // the client's writes are not carried out (--dry-run)
};

struct EngineCallbacks {
  // `controller` is the hook, `object` what it ran for.
  std::function<void(const hooks::RunRecord&)> on_run;
  std::function<void(const Error&)> on_fatal;
};

class Engine {
 public:
  // loop and client must outlive it.
  Engine(loop::EventLoop& loop, client::Client& client, EngineOptions options,
         EngineCallbacks callbacks);
  ~Engine();

  // Errors: those of find_hooks; not_found, when there is no hook; forbidden (no private folder).
  Result<void> start();
  // waiting_rules: hooks that do not run; failing: queues whose head is tried again.
  hooks::EngineStatus status() const;
  hooks::EngineFacts facts() const;
  std::string metrics_text(const hooks::EngineFacts& facts, bool ready) const;
  // Those of the hooks alone.
  std::string hook_metrics_text() const;
  // Called after anything changes that status() shows.
  void on_progress(std::function<void()> callback);
  // Nothing new starts, running hooks end within the timeout; then `done`.
  void shut_down(std::function<void()> done);
  // After shut_down(): hooks that were ended before they were done.
  const std::vector<std::string>& cut_off() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::compat
