// The PriorityClasses that every cluster has from the start. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kubewatch::builtin {

struct SystemPriority {
  std::string_view name;
  std::int64_t value;
  std::string_view description;
};

// In the order in which the server makes them, described in its words.
inline constexpr std::array<SystemPriority, 2> kSystemPriorities = {{
    {"system-node-critical", 2000001000,
     "Used for system critical pods that must not be moved from their current node."},
    {"system-cluster-critical", 2000000000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node "
     "if necessary."},
}};

// Null where there is none of that name.
inline const SystemPriority* system_priority(std::string_view name) {
  for (const SystemPriority& one : kSystemPriorities) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace kubewatch::builtin
