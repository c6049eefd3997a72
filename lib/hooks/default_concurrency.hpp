// How many hooks may run at the same time when nobody says: two for each CPU that this process may
// use, by its cgroup's quota or the CPUs it runs on.
#pragma once

#include <cstddef>

#include "loop/cpu_quota.hpp"

namespace kubewatch::hooks {

inline constexpr std::size_t kFewestHooks = 4;
inline constexpr std::size_t kMostHooks = 32;
// From kFewestHooks to kMostHooks: hooks wait for servers more than they compute, and a machine of
// 128 CPUs is no reason for hundreds of interpreters.
std::size_t default_concurrency(const loop::UsableCpu& cpu);

}  // namespace kubewatch::hooks
