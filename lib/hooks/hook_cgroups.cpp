// Limits to cgroups.
#include "hooks/hook_cgroups.hpp"

#include <algorithm>
#include <utility>

#include "hooks/hook_limits.hpp"

namespace kubewatch::hooks {
namespace {

// A killed process is gone in less than the first; one that hangs in the kernel is asked for
// seldom.
constexpr Duration kFirstSweep{5};
constexpr Duration kLastSweep{1000};

bool wants(const HookRule& hook) {
  return hook.limits.memory > 0 || hook.limits.processes > 0;
}

}  // namespace

bool want_cgroups(const std::vector<Rule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const Rule& rule) {
    return wants(rule.reconcile) || (rule.finalize && wants(rule.finalize->hook));
  });
}

CgroupAccess open_cgroups(const std::vector<Rule>& rules) {
  if (!want_cgroups(rules)) {
    return {nullptr, "no rule limited memory or processes when kubewatch was started"};
  }
  auto tree = loop::CgroupTree::open();
  if (!tree.ok()) return {nullptr, tree.error().render()};
  return {*std::move(tree), ""};
}

HookCgroups::HookCgroups(loop::EventLoop& loop, CgroupAccess access)
    : loop_(loop), access_(std::move(access)) {
  if (access_.tree) access_.tree->on_waiting([this] { plan(kFirstSweep); });
}

HookCgroups::~HookCgroups() {
  if (access_.tree) access_.tree->on_waiting(nullptr);
}

void HookCgroups::plan(Duration wait) {
  timer_ = loop_.after(wait, [this, wait] {
    if (!access_.tree->sweep()) plan(std::min(wait * 2, kLastSweep));
  });
}

Result<std::shared_ptr<loop::Cgroup>> HookCgroups::make(const HookLimits& limits) {
  if (!access_.tree) return std::shared_ptr<loop::Cgroup>();
  const loop::CgroupLimits kept = kept_by_cgroup(limits, access_.tree->controllers());
  if (!kept.memory && !kept.processes) return std::shared_ptr<loop::Cgroup>();
  return access_.tree->make(kept);
}

}  // namespace kubewatch::hooks
