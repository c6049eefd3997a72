// How much CPU this process may use: the quota of its cgroup, of either version, and the CPUs it
// runs on. The reading of file texts comes through a function; usable_cpu() reads this system.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::loop {

// The text of a file; absent: it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

// Of cgroup v2: "200000 100000" is 2 CPUs, "max 100000" no quota.
std::optional<double> parse_cpu_max(std::string_view text);
// The smallest quota of this process's cgroup and those above it, v2 or v1, in CPUs.
std::optional<double> cpu_quota(const ReadText& read);

struct UsableCpu {
  std::optional<double> quota;  // absent: none
  std::size_t cpus = 1;
};
UsableCpu usable_cpu();

}  // namespace kubewatch::loop
