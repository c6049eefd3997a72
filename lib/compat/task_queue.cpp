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
  return same_group(kinship(tasks_.rbegin()->second.task), kinship(task));
}

// What a later task can be one with. Nothing for runs that must each be known until they ran.
std::optional<TaskQueue::Identity> TaskQueue::identity(const Task& task) {
  const Context& context = task.context;
  if (phase_of(context.type) != Phase::live) return std::nullopt;
  // A group is one entry whichever of its bindings woke it, and shows the state when it runs.
  if (!context.group.empty()) {
    return Identity{task.hook, task.allow_failure, ContextType::startup, 0, context.group};
  }
  return Identity{task.hook, task.allow_failure, context.type, context.binding, context.object_id};
}

// In a queue that is far too long: what happens to an object whose earlier event still waits, a
// tick of a schedule whose earlier tick does, becomes one with it.
bool TaskQueue::absorbs(Task& task) {
  if (tasks_.size() < kManyTasks) return false;
  const auto who = identity(task);
  const auto found = who ? latest_.find(*who) : latest_.end();
  if (found == latest_.end()) return false;
  if (!task.context.group.empty()) return true;
  const auto older = tasks_.find(found->second);
  if (task.context.type != ContextType::event || !vanishes(older->first, older->second, task)) {
    merge(older->second, task);
    return true;
  }
  tasks_.erase(older);
  latest_.erase(found);
  return true;
}

// It came and went, and the hook never heard of it nor saw it.
bool TaskQueue::vanishes(std::uint64_t number, const Waiting& older, const Task& task) const {
  const auto shown = shown_.find(task.hook);
  return older.task.context.event == WatchEvent::added &&
         task.context.event == WatchEvent::deleted && !older.known &&
         (shown == shown_.end() || number >= shown->second);
}

void TaskQueue::merge(Waiting& older, Task& task) {
  Context& context = task.context;
  const WatchEvent before = older.task.context.event;
  if (before == WatchEvent::deleted && context.event != WatchEvent::deleted) {
    older.known = true;  // in an earlier life
    context.event = task.hears_modified ? WatchEvent::modified : WatchEvent::added;
  } else if (before == WatchEvent::added && context.event == WatchEvent::modified) {
    context.event = WatchEvent::added;
  }
  older.task = std::move(task);
}

void TaskQueue::push(Task task, TimePoint now) {
  if (compacts(task) || absorbs(task)) return;
  if (const auto who = identity(task)) latest_[*who] = next_;
  tasks_.emplace(next_++, Waiting{std::move(task), now});
}

std::optional<std::size_t> TaskQueue::ready(TimePoint now) const {
  if (running_ || empty() || now < not_before_) return std::nullopt;
  return head_ ? head_->hook : tasks_.begin()->second.task.hook;
}

const Batch& TaskQueue::start(std::size_t max_contexts) {
  running_ = true;
  if (head_) return *head_;
  head_.emplace();
  const Kinship first = kinship(tasks_.begin()->second.task);
  head_->hook = first.hook;
  head_->allow_failure = first.allow_failure;
  std::optional<Kinship> last;
  std::size_t bytes = 0;
  while (!tasks_.empty()) {
    const auto at = tasks_.begin();
    Task& task = at->second.task;
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
    const auto who = latest_.find(identity(task).value_or(Identity{}));
    if (who != latest_.end() && who->second == at->first) latest_.erase(who);
    if (entry) head_->contexts.push_back(std::move(task.context));
    last = std::move(own);
    tasks_.erase(at);
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
  for (const auto& [number, one] : tasks_) call(one.task.hook, one.since);
}

std::optional<TimePoint> RateLimit::take(TimePoint now) {
  if (min_interval_ <= Duration{0}) return std::nullopt;
  // A wait that was rounded to the clock must not leave a hair's breadth.
  constexpr double kOne = 1 - 1e-9;
  const double left = bucket_.level(now);
  if (left >= kOne) {
    bucket_.take(now, std::min(left, 1.0));
    return std::nullopt;
  }
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto wait = std::chrono::ceil<Duration>((kOne - left) * Milliseconds(min_interval_));
  return now + wait;
}

}  // namespace kubewatch::compat
