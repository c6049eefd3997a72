// From a configuration to tasks.
#include "compat/hook.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "compat/kinds.hpp"

namespace kubewatch::compat {

Hook::Hook(loop::EventLoop& loop, std::size_t place, HookFile file, Callbacks callbacks)
    : loop_(loop), place_(place), file_(std::move(file)), callbacks_(std::move(callbacks)) {}

void Hook::configure(Result<HookConfig> config) {
  configured_ = true;
  if (!config.ok()) {
    broken_ = true;
    // What a failed --config printed is for the log alone.
    why_not_ready_ = "its --config failed or is wrong; the log says how";
    base::log_error("hook is not run: " + config.error().render(), {{"controller", file_.name}});
    return;
  }
  why_not_ready_.clear();
  config_ = *std::move(config);
  rate_ = RateLimit(config_.rate);
  for (const std::string& note : config_.notes) base::log_info(note, {{"controller", file_.name}});
}

Result<void> Hook::resolve(hooks::StreamPool& pool, const client::ResourceMap& resources) {
  auto opened = open_watches(pool, resources);
  why_not_ready_ = opened.ok() ? "" : opened.error().render();
  return opened;
}

Result<void> Hook::open_watches(hooks::StreamPool& pool, const client::ResourceMap& resources) {
  const auto named = [this](std::size_t binding) {
    return "kubernetes binding " + config_.kubernetes[binding].name;
  };
  core::ResourceType namespaces;
  std::vector<core::ResourceType> types;
  if (!config_.kubernetes.empty()) {
    KW_ASSIGN(namespaces, find_kind(resources, "v1", "Namespace"));
  }
  for (std::size_t i = 0; i < config_.kubernetes.size(); ++i) {
    const KubernetesBinding& binding = config_.kubernetes[i];
    KW_ASSIGN(auto type,
              find_kind(resources, binding.api_version, binding.kind).with_context(named(i)));
    types.push_back(std::move(type));
  }
  for (std::size_t i = 0; i < config_.kubernetes.size(); ++i) {
    monitors_.push_back(std::make_unique<BindingMonitor>(
        config_, i,
        BindingMonitor::Callbacks{
            callbacks_.on_progress, [this, i](Context context) { on_event(i, std::move(context)); },
            [this](const std::string& what) {
              if (!told_.admit(what, loop_.now())) return;
              base::log_warn(what + "; its filterResult is null", {{"controller", file_.name}});
            }}));
  }
  resolved_ = true;
  for (std::size_t i = 0; i < monitors_.size(); ++i) {
    auto opened = monitors_[i]->open(pool, types[i], namespaces);
    if (opened.ok()) continue;
    broken_ = true;
    stop();
    return std::move(opened.error()).with_context(named(i));
  }
  return {};
}

bool Hook::ready() const {
  return resolved_ && std::all_of(monitors_.begin(), monitors_.end(),
                                  [](const auto& monitor) { return monitor->ready(); });
}

bool Hook::any_waiting(bool (BindingMonitor::*is)() const) const {
  return std::any_of(monitors_.begin(), monitors_.end(), [is](const auto& monitor) {
    return !monitor->ready() && (monitor.get()->*is)();
  });
}

bool Hook::blocked() const {
  return !resolved_ || any_waiting(&BindingMonitor::blocked);
}

bool Hook::stalled() const {
  return any_waiting(&BindingMonitor::stalled);
}

void Hook::begin() {
  begun_ = true;
  for (std::size_t i = 0; i < config_.kubernetes.size(); ++i) {
    const KubernetesBinding& binding = config_.kubernetes[i];
    if (!binding.on_synchronization) continue;
    if (binding.wait_for_synchronization) ++to_synchronize_;
    callbacks_.on_task(binding.queue,
                       {place_, synchronization_context(config_, i), binding.allow_failure});
  }
  if (to_synchronize_ == 0) start_clocks();
}

void Hook::synchronized(const std::vector<std::size_t>& bindings) {
  if (to_synchronize_ == 0) return;
  for (const std::size_t binding : bindings) {
    if (config_.kubernetes[binding].wait_for_synchronization) --to_synchronize_;
  }
  if (to_synchronize_ == 0) start_clocks();
}

// What happens before is in the objects of its Synchronization.
void Hook::on_event(std::size_t binding, Context context) {
  if (!begun_ || stopped_) return;
  const KubernetesBinding& from = config_.kubernetes[binding];
  callbacks_.on_task(from.queue, {place_, std::move(context), from.allow_failure,
                                  from.events.count(WatchEvent::modified) > 0});
}

void Hook::start_clocks() {
  if (stopped_ || !clocks_.empty()) return;
  for (const ScheduleBinding& binding : config_.schedules) {
    clocks_.push_back({CrontabClock(*binding.crontab, loop_.wall()), {}});
  }
  for (std::size_t i = 0; i < clocks_.size(); ++i) look_at_clock(i);
}

void Hook::look_at_clock(std::size_t schedule) {
  Clock& clock = clocks_[schedule];
  if (clock.clock.is_due(loop_.wall())) {
    const ScheduleBinding& binding = config_.schedules[schedule];
    callbacks_.on_task(binding.queue,
                       {place_, schedule_context(config_, schedule), binding.allow_failure});
  }
  clock.timer =
      loop_.after(clock.clock.wait(loop_.wall()), [this, schedule] { look_at_clock(schedule); });
}

void Hook::stop() {
  stopped_ = true;
  for (Clock& clock : clocks_) clock.timer.reset();
}

std::size_t Hook::most_contexts() const {
  if (!resolved_) return kMostContexts;
  const std::size_t most = compat::most_contexts(config_, [this](std::size_t binding) {
    std::size_t bytes = 0;
    for (const SnapshotItem& item : monitors_[binding]->snapshot()) {
      bytes += item.object.size() + (item.filtered ? item.filtered->size() : 0);
    }
    return bytes;
  });
  return std::min(most, kMostContexts);
}

std::string Hook::render(const std::vector<Context>& contexts) const {
  return render_contexts(config_, contexts,
                         [this](std::size_t binding) { return monitors_[binding]->snapshot(); });
}

hooks::SecretMask Hook::secrets(const std::vector<Context>& contexts) const {
  hooks::SecretMask out;
  for (const auto& monitor : monitors_) monitor->add_secrets(out);
  for (const Context& context : contexts) out.add_json(context.object);
  return out;
}

}  // namespace kubewatch::compat
