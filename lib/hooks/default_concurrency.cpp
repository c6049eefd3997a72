#include "hooks/default_concurrency.hpp"

#include <algorithm>
#include <cmath>

namespace kubewatch::hooks {

std::size_t default_concurrency(const loop::UsableCpu& cpu) {
  double usable = static_cast<double>(std::max<std::size_t>(cpu.cpus, 1));
  if (cpu.quota) usable = std::min(usable, *cpu.quota);
  const auto hooks = static_cast<std::size_t>(std::ceil(2 * usable));
  return std::clamp(hooks, kFewestHooks, kMostHooks);
}

}  // namespace kubewatch::hooks
