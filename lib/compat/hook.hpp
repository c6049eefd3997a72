// One hook of the folder: its configuration, its watches and clocks, and how far it has come. Says
// which tasks to queue; running them is engine's. Owned by engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "compat/binding_monitor.hpp"
#include "compat/hook_file.hpp"
#include "compat/task_queue.hpp"
#include "hooks/once_per.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::compat {

class Hook {
 public:
  struct Callbacks {
    std::function<void(const std::string& queue, Task task)> on_task;
    std::function<void()> on_progress;  // ready(), blocked() or stalled() may have changed
  };
  // The loop must outlive it.
  Hook(loop::EventLoop& loop, std::size_t place, HookFile file, Callbacks callbacks);

  const HookFile& file() const { return file_; }
  const HookConfig& config() const { return config_; }
  RateLimit& rate() { return rate_; }

  // Once: what --config said.
  void configure(Result<HookConfig> config);
  bool configured() const { return configured_; }
  // Never runs: its configuration is wrong.
  bool broken() const { return broken_; }

  // Opens the watches, once all kinds are there. Errors: not_found, unavailable (asked again
  // later); invalid (broken from now on).
  Result<void> resolve(hooks::StreamPool& pool, const client::ResourceMap& resources);
  bool resolved() const { return resolved_; }
  // All objects are there.
  bool ready() const;
  // Waits for the server: a kind is missing, or may not be listed.
  bool blocked() const;
  bool stalled() const;
  // What keeps it from being ready; "": nothing but lists that have not come yet.
  const std::string& why_not_ready() const { return why_not_ready_; }

  // After the onStartup hooks: queues the Synchronization of each binding, and hears events from
  // now on.
  void begin();
  bool begun() const { return begun_; }
  // These bindings have been synchronized. Clocks start when none is waited for any more.
  void synchronized(const std::vector<std::size_t>& bindings);
  // No event and no tick any more.
  void stop();

  // That one run can be given, as the snapshots are now.
  std::size_t most_contexts() const;
  std::string render(const std::vector<Context>& contexts) const;
  hooks::SecretMask secrets(const std::vector<Context>& contexts) const;

 private:
  bool any_waiting(bool (BindingMonitor::*is)() const) const;
  Result<void> open_watches(hooks::StreamPool& pool, const client::ResourceMap& resources);
  void on_event(std::size_t binding, Context context);
  void start_clocks();
  void look_at_clock(std::size_t schedule);

  loop::EventLoop& loop_;
  std::size_t place_;
  HookFile file_;
  Callbacks callbacks_;
  HookConfig config_;
  RateLimit rate_{{}};
  std::string why_not_ready_ = "its --config has not ended yet";
  bool configured_ = false;
  bool broken_ = false;
  bool resolved_ = false;
  bool begun_ = false;
  bool stopped_ = false;
  std::size_t to_synchronize_ = 0;  // that clocks wait for
  hooks::OncePer told_{Duration{60000}};
  std::vector<std::unique_ptr<BindingMonitor>> monitors_;
  struct Clock {
    CrontabClock clock;
    loop::Timer timer;
  };
  std::vector<Clock> clocks_;
};

}  // namespace kubewatch::compat
