// What a rule's `limits` say of what a hook uses. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "hooks/rule.hpp"
#include "loop/cgroup.hpp"
#include "loop/cgroup_place.hpp"
#include "loop/process_table.hpp"

namespace kubewatch::hooks {

// "more than limits.memory 256Mi"; "" = within its limits.
std::string over_limit(const HookLimits& limits, const loop::GroupUsage& usage);
// The same of what the cgroup of a hook says; `usage.cpu` is that of the run.
std::string over_limit(const HookLimits& limits, const loop::CgroupUsage& usage);

// Which of them the kernel keeps in a cgroup with these controllers, and which are left to be
// looked at in /proc beside it. CPU seconds are counted by any cgroup.
loop::CgroupLimits kept_by_cgroup(const HookLimits& limits,
                                  const loop::CgroupControllers& controllers);
HookLimits left_by_cgroup(HookLimits limits, const loop::CgroupLimits& kept);

// The end of a process whose CPU seconds the kernel counts as well: it says SIGXCPU, a shell 128
// and its number.
struct CpuEnd {
  double seconds = 0;  // that it and the children it waited for used
  std::optional<int> code;
  std::optional<int> signal;
};
std::string over_cpu_limit(const HookLimits& limits, const CpuEnd& end);

// Of a process that was ours before it was its own program, the kernel's peak begins with ours:
// below that nothing is known of its own, 0. Both in bytes.
std::uint64_t own_peak(std::uint64_t peak, std::uint64_t of_ours);

// "memory, processes: by the kernel ...": which way the limits of a rule apply, for its log.
// `tree`: the folder of our cgroups; "" = none, and `why_not` says why.
struct CgroupWay {
  std::string tree;
  loop::CgroupControllers controllers;
  std::string why_not;
};
std::string how_limits_apply(const HookRule& hook, const CgroupWay& cgroups);

// 268435456 -> "256Mi".
std::string format_size(std::size_t bytes);

}  // namespace kubewatch::hooks
