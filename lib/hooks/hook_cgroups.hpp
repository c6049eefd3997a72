// Where the hooks of one engine get their limits kept by the kernel: a cgroup for each process or
// worker that limits memory or processes, where cgroups were delegated to us. Owned by the engine;
// outlives its runners. What is over a limit, and how it is said, is hook_limits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hooks/rule.hpp"
#include "loop/cgroup_tree.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

// Found once, at the start of the process.
struct CgroupAccess {
  std::shared_ptr<loop::CgroupTree> tree;  // null: there is none, and
  std::string why_not;                     // why
};

// Of a hook of these rules a limit could be kept by a cgroup.
bool want_cgroups(const std::vector<Rule>& rules);
// Before the guardian is started, and nothing where no rule wants it.
CgroupAccess open_cgroups(const std::vector<Rule>& rules);

class HookCgroups {
 public:
  // `loop` must outlive it.
  HookCgroups(loop::EventLoop& loop, CgroupAccess access);
  ~HookCgroups();
  HookCgroups(const HookCgroups&) = delete;
  HookCgroups& operator=(const HookCgroups&) = delete;

  // For one process. Null: none of these limits can be kept so. Errors: unavailable; the hook must
  // not be started then.
  Result<std::shared_ptr<loop::Cgroup>> make(const HookLimits& limits);
  // For how_limits_apply().
  const CgroupAccess& access() const { return access_; }

 private:
  void plan(Duration wait);

  loop::EventLoop& loop_;
  CgroupAccess access_;
  loop::Timer timer_;  // while folders wait for the death of who was in them
};

}  // namespace kubewatch::hooks
