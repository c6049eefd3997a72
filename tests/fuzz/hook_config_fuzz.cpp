// Whatever a shell-operator hook prints for --config: refused with a message, or bindings that can
// be run: each has its kind or its times, and the snapshots that it asks for are kept by another.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/hook_config.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void check(const Binding& binding, const HookConfig& config) {
  for (const std::string& wanted : binding.snapshots_from) {
    must(std::any_of(config.kubernetes.begin(), config.kubernetes.end(),
                     [&](const KubernetesBinding& one) { return one.name == wanted; }));
  }
}

void check(const HookConfig& config) {
  must(config.on_startup || !config.schedules.empty() || !config.kubernetes.empty());
  must(config.rate.burst >= 1 && config.rate.min_interval >= Duration{0});
  const WallTime now{std::chrono::seconds{1700000000}};
  for (const ScheduleBinding& binding : config.schedules) {
    check(binding, config);
    must(binding.crontab.has_value());
    const auto next = binding.crontab->next(now);
    must(!next || *next > now);
  }
  for (const KubernetesBinding& binding : config.kubernetes) {
    check(binding, config);
    must(!binding.kind.empty());
    must(binding.wait_for_synchronization || binding.queue != kMainQueue);
    // What is sent to the server is what was read.
    must(core::FieldSelector::parse(binding.field_selector.str()).ok());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = parse_hook_config(text);
  if (config.ok()) {
    check(*config);
  } else {
    must(!config.error().render().empty());
  }
  return 0;
}
