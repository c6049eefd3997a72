// Order, combining, waiting.
#include "compat/task_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kubewatch::compat {
namespace {

// Beyond this a hook lags far behind: states in between are left out, the newest is kept.
constexpr std::size_t kManyTasks = 2000;
// Of the events of one run, beyond the first.
constexpr std::size_t kMostEventBytes = 64U << 20U;

// What decides whether two stand side by side in one run, or as one entry of it. onStartup is a run
// of its own, and events wait until the hook has taken its Synchronization.
enum class Phase { startup, synchronization, live };

Phase phase_of(ContextType type) {
  if (type == ContextType::startup) return Phase::startup;
  return type == ContextType::synchronization ? Phase::synchronization : Phase::live;
}

struct Kinship {
  std::size_t hook;
  bool allow_failure;
  Phase phase;
  std::string group;
  bool operator==(const Kinship&) const = default;
};

Kinship kinship(const Task& task) {
  return {task.hook, task.allow_failure, phase_of(task.context.type), task.context.group};
}

bool together(const Kinship& a, const Kinship& b) {
  return a.hook == b.hook && a.allow_failure == b.allow_failure && a.phase == b.phase;
}

std::size_t bytes_of(const Context& context) {
  return context.object.size() + (context.filtered ? context.filtered->size() : 0);
}

bool same_group(const Kinship& a, const Kinship& b) {
  return a == b && !a.group.empty();
}

}  // namespace

bool TaskQueue::compacts(const Task& task) const {
  // A Synchronization ends the wait of its own binding: it must be known until it ran.
  if (tasks_.empty() || task.context.type == ContextType::synchronization) return false;
  return same_group(kinship(tasks_.back().task), kinship(task));
}

// In a queue that is far too long: a change of an object whose earlier change still waits, a tick
// of a schedule whose earlier tick does.
bool TaskQueue::replaces(Task& task) {
  const bool tick = task.context.type == ContextType::schedule;
  const bool change =
      task.context.type == ContextType::event && task.context.event == WatchEvent::modified;
  if (tasks_.size() < kManyTasks || (!tick && !change)) return false;
  for (auto it = tasks_.rbegin(); it != tasks_.rend(); ++it) {
    Task& other = it->task;
    if (other.hook != task.hook || other.context.type != task.context.type ||
        other.context.binding != task.context.binding ||
        other.context.object_id != task.context.object_id) {
      continue;
    }
    if (change && other.context.event != WatchEvent::modified) return false;
    other = std::move(task);
    return true;
  }
  return false;
}

void TaskQueue::push(Task task, TimePoint now) {
  if (compacts(task) || replaces(task)) return;
  tasks_.push_back({std::move(task), now});
}

std::optional<std::size_t> TaskQueue::ready(TimePoint now) const {
  if (running_ || empty() || now < not_before_) return std::nullopt;
  return head_ ? head_->hook : tasks_.front().task.hook;
}

const Batch& TaskQueue::start(std::size_t max_contexts) {
  running_ = true;
  if (head_) return *head_;
  head_.emplace();
  const Kinship first = kinship(tasks_.front().task);
  head_->hook = first.hook;
  head_->allow_failure = first.allow_failure;
  std::optional<Kinship> last;
  std::size_t bytes = 0;
  while (!tasks_.empty()) {
    Task& task = tasks_.front().task;
    Kinship own = kinship(task);
    if (!together(first, own)) break;
    const bool entry = !last || !same_group(*last, own);
    if (entry && last) {
      bytes += bytes_of(task.context);
      if (head_->contexts.size() >= max_contexts || bytes > kMostEventBytes) break;
    }
    if (task.context.type == ContextType::synchronization) {
      head_->synchronized.push_back(task.context.binding);
    }
    if (entry) head_->contexts.push_back(std::move(task.context));
    last = std::move(own);
    tasks_.pop_front();
  }
  return *head_;
}

bool TaskQueue::finish(bool success, TimePoint now, base::Random& random) {
  running_ = false;
  if (success || head_->allow_failure) {
    backoff_.succeed();
    head_.reset();
    not_before_ = TimePoint{};
    return true;
  }
  ++head_->attempt;
  not_before_ = now + backoff_.fail(random);
  return false;
}

std::optional<TimePoint> TaskQueue::due(TimePoint now) const {
  if (running_ || empty() || not_before_ <= now) return std::nullopt;
  return not_before_;
}

void TaskQueue::each_waiting(
    const std::function<void(std::size_t hook, TimePoint since)>& call) const {
  for (const Waiting& one : tasks_) call(one.task.hook, one.since);
}

std::optional<TimePoint> RateLimit::take(TimePoint now) {
  if (settings_.min_interval <= Duration{0}) return std::nullopt;
  const auto burst = static_cast<double>(settings_.burst);
  using Seconds = std::chrono::duration<double>;
  const double per_token = Seconds(settings_.min_interval).count();
  if (tokens_ < 0) {
    tokens_ = burst;
  } else {
    tokens_ = std::min(burst, tokens_ + Seconds(now - last_).count() / per_token);
  }
  last_ = now;
  // A wait that was rounded to the clock must not leave a hair's breadth.
  if (tokens_ >= 1 - 1e-9) {
    tokens_ = std::max(0.0, tokens_ - 1);
    return std::nullopt;
  }
  const auto wait = std::chrono::ceil<Duration>(Seconds((1 - tokens_) * per_token));
  return now + wait;
}

}  // namespace kubewatch::compat
