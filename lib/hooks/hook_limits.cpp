// Comparing, and saying so.
#include "hooks/hook_limits.hpp"

#include <fmt/format.h>

#include <csignal>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

struct Named {
  bool memory = false;
  bool processes = false;
  bool cpu = false;
};

std::string names(const Named& named) {
  std::vector<std::string> out;
  if (named.memory) out.emplace_back("memory");
  if (named.processes) out.emplace_back("processes");
  if (named.cpu) out.emplace_back("cpu");
  return base::join(out, ", ");
}

}  // namespace

std::string format_size(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::string over_limit(const HookLimits& limits, const loop::GroupUsage& usage) {
  if (limits.memory > 0 && usage.memory > limits.memory) {
    return "more than limits.memory " + format_size(limits.memory);
  }
  if (limits.cpu > Duration{0} && (usage.cpu > limits.cpu || usage.cpu_limit)) {
    return "more than limits.cpu " + base::format_duration(limits.cpu);
  }
  if (limits.processes > 0 && usage.processes > limits.processes) {
    return fmt::format("more than limits.processes {}", limits.processes);
  }
  return "";
}

std::string over_limit(const HookLimits& limits, const loop::CgroupUsage& usage) {
  loop::GroupUsage same;
  same.cpu = std::chrono::duration_cast<Duration>(usage.cpu);
  if (usage.memory_refused) same.memory = limits.memory + 1;
  if (usage.process_refused) same.processes = limits.processes + 1;
  return over_limit(limits, same);
}

loop::CgroupLimits kept_by_cgroup(const HookLimits& limits,
                                  const loop::CgroupControllers& controllers) {
  loop::CgroupLimits out;
  if (limits.memory > 0 && controllers.memory) out.memory = limits.memory;
  if (limits.processes > 0 && controllers.pids) out.processes = limits.processes;
  return out;
}

HookLimits left_by_cgroup(HookLimits limits, const loop::CgroupLimits& kept) {
  if (kept.memory) limits.memory = 0;
  if (kept.processes) limits.processes = 0;
  limits.cpu = Duration{0};
  return limits;
}

std::string over_cpu_limit(const HookLimits& limits, const CpuEnd& end) {
  if (limits.cpu <= Duration{0}) return "";
  constexpr int kShellSignal = 128;
  const bool told = end.signal == SIGXCPU || end.code == kShellSignal + SIGXCPU;
  const bool killed = end.signal == SIGKILL || end.code == kShellSignal + SIGKILL;
  const double limit = std::chrono::duration<double>(limits.cpu).count();
  if (!told && !(killed && end.seconds >= limit)) return "";
  return "more than limits.cpu " + base::format_duration(limits.cpu);
}

std::uint64_t own_peak(std::uint64_t peak, std::uint64_t of_ours) {
  return peak > of_ours ? peak : 0;
}

std::string how_limits_apply(const HookRule& hook, const CgroupWay& cgroups) {
  if (!hook.limits.any()) return "";
  loop::CgroupLimits kept;
  if (!cgroups.tree.empty()) kept = kept_by_cgroup(hook.limits, cgroups.controllers);
  const bool in_cgroup = kept.memory || kept.processes;
  const HookLimits left = in_cgroup ? left_by_cgroup(hook.limits, kept) : hook.limits;
  const bool has_cpu = hook.limits.cpu > Duration{0};
  std::vector<std::string> ways;
  if (in_cgroup) {
    ways.push_back(names({kept.memory.has_value(), kept.processes.has_value(), false}) +
                   ": by the kernel (cgroup v2, " + cgroups.tree + ")");
    if (has_cpu) ways.emplace_back("cpu: by what its cgroup counts");
  }
  if (left.any()) {
    ways.push_back(names({left.memory > 0, left.processes > 0, left.cpu > Duration{0}}) +
                   ": by looking at its processes in /proc");
  }
  if (has_cpu && hook.mode == HookMode::process) {
    ways.emplace_back("cpu: of each process by the kernel (RLIMIT_CPU) as well");
  }
  const bool wanted = hook.limits.memory > 0 || hook.limits.processes > 0;
  if (wanted && !in_cgroup && !cgroups.why_not.empty()) {
    ways.push_back("no cgroup: " + cgroups.why_not);
  }
  return base::join(ways, "; ");
}

}  // namespace kubewatch::hooks
