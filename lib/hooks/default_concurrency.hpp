// How many hooks may run at the same time when nobody says: two for each CPU that this process may
// use, by its cgroup's quota or the CPUs it runs on. Pure: file texts come through a function.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kubewatch::hooks {

// The text of a file; absent: it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

// Of cgroup v2: "200000 100000" is 2 CPUs, "max 100000" no quota.
std::optional<double> parse_cpu_max(std::string_view text);
// The smallest quota of this process's cgroup and those above it, v2 or v1, in CPUs.
std::optional<double> cpu_quota(const ReadText& read);

inline constexpr std::size_t kFewestHooks = 4;
inline constexpr std::size_t kMostHooks = 32;
// From kFewestHooks to kMostHooks: hooks wait for servers more than they compute, and a machine of
// 128 CPUs is no reason for hundreds of interpreters.
std::size_t default_concurrency(std::optional<double> quota, std::size_t cpus);

// From this system.
std::size_t default_concurrency();

}  // namespace kubewatch::hooks
