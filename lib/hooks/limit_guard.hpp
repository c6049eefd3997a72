// Watches over the hooks of one rule that have limits: looks at what their processes use, all of
// them in one scan, or asks their cgroups, while any of them runs. How often follows from what that
// costs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hooks/hook_limits.hpp"
#include "loop/cgroup.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class LimitGuard {
 public:
  explicit LimitGuard(loop::EventLoop& loop) : loop_(loop) {}

  // What runs; destroying it ends the watch. Empty by default.
  class Watched {
   public:
    Watched() = default;
    ~Watched() { reset(); }
    Watched(Watched&& other) noexcept;
    Watched& operator=(Watched&& other) noexcept;
    void reset();
    // CPU is counted from now on: a worker got its next run.
    void restart_cpu();

   private:
    friend class LimitGuard;
    Watched(LimitGuard* guard, int leader) : guard_(guard), leader_(leader) {}
    LimitGuard* guard_ = nullptr;
    int leader_ = 0;
  };

  // `over` is called once, from the loop, with "more than limits.memory 256Mi"; it may end the
  // watch. `begun`: not yet means that its memory is still ours and says nothing; null: it has.
  // `cgroup`: what it and all that it starts are in; what that limits or counts is asked of it.
  // The guard must outlive what it gives.
  [[nodiscard]] Watched watch(int leader, const HookLimits& limits,
                              std::function<void(std::string)> over,
                              std::function<bool()> begun = nullptr,
                              std::shared_ptr<loop::Cgroup> cgroup = nullptr);

 private:
  struct Entry {
    HookLimits limits;
    std::function<void(std::string)> over;
    std::function<bool()> begun;  // null once it has
    std::shared_ptr<loop::Cgroup> cgroup;
    HookLimits scanned;  // of the limits, those that are looked at in /proc
    bool count_anew = false;
    Duration cpu_before{0};
    std::chrono::microseconds cgroup_cpu_before{0};
  };
  using Ends = std::vector<std::pair<std::function<void(std::string)>, std::string>>;
  void ask_cgroups(Ends& ends);
  void plan(Duration wait);
  void look();

  loop::EventLoop& loop_;
  std::map<int, Entry> entries_;
  loop::Timer timer_;
};

}  // namespace kubewatch::hooks
