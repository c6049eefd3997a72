// Where the kernel says how much CPU there is.
#include "loop/cpu_quota.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/files.hpp"
#include "base/strings.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::size_t kMaxFile = 64U << 10U;

std::optional<double> to_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value > 0)) return std::nullopt;
  return value;
}

std::optional<double> smaller(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::optional<double> quota_v1(const ReadText& read, const std::string& folder) {
  const auto quota = read(folder + "/cpu.cfs_quota_us");
  const auto period = read(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  const auto amount = to_number(*quota);  // -1: none
  const auto every = to_number(*period);
  if (!amount || !every) return std::nullopt;
  return *amount / *every;
}

std::optional<double> quota_v2(const ReadText& read, const std::string& folder) {
  const auto text = read(folder + "/cpu.max");
  return text ? parse_cpu_max(*text) : std::nullopt;
}

// A container sees its own cgroup as the root, whatever /proc/self/cgroup says of it.
template <class Quota>
std::optional<double> smallest_upwards(const std::string& root, std::string path,
                                       const Quota& quota_at) {
  std::optional<double> out = quota_at(root);
  for (; path.size() > 1; path = parent(path)) out = smaller(out, quota_at(root + path));
  return out;
}

}  // namespace

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::vector<std::string> parts = base::split(std::string(base::trim(text)), ' ');
  if (parts.size() != 2 || parts[0] == "max") return std::nullopt;
  const auto quota = to_number(parts[0]);
  const auto period = to_number(parts[1]);
  if (!quota || !period) return std::nullopt;
  return *quota / *period;
}

std::optional<double> cpu_quota(const ReadText& read) {
  const auto groups = read("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  std::optional<double> out;
  for (const std::string& line : base::split(*groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (path.find("..") != std::string::npos) continue;
    if (controllers.empty()) {
      out = smaller(out, smallest_upwards("/sys/fs/cgroup", path, [&](const std::string& folder) {
                      return quota_v2(read, folder);
                    }));
    }
    const auto names = base::split(controllers, ',');
    if (std::find(names.begin(), names.end(), "cpu") != names.end()) {
      out = smaller(
          out, smallest_upwards("/sys/fs/cgroup/cpu", path,
                                [&](const std::string& folder) { return quota_v1(read, folder); }));
    }
  }
  return out;
}

UsableCpu usable_cpu() {
  UsableCpu out;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
    out.cpus = static_cast<std::size_t>(CPU_COUNT(&cpus));
  }
  out.quota = cpu_quota([](const std::string& path) -> std::optional<std::string> {
    auto text = base::read_file(path, kMaxFile);
    if (!text.ok()) return std::nullopt;
    return std::move(*text);
  });
  return out;
}

}  // namespace kubewatch::loop
