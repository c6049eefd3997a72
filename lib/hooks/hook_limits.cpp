// Comparing, and saying so.
#include "hooks/hook_limits.hpp"

#include <fmt/format.h>

#include <csignal>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::hooks {

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

std::string how_limits_apply(const HookRule& hook) {
  std::vector<std::string> watched;
  if (hook.limits.memory > 0) watched.push_back("memory");
  if (hook.limits.processes > 0) watched.push_back("processes");
  if (hook.limits.cpu > Duration{0}) watched.push_back("cpu");
  if (watched.empty()) return "";
  std::string out = base::join(watched, ", ") + ": by looking at its processes in /proc";
  if (hook.limits.cpu > Duration{0} && hook.mode == HookMode::process) {
    out += "; cpu: of each process by the kernel (RLIMIT_CPU) as well";
  }
  return out;
}

}  // namespace kubewatch::hooks
