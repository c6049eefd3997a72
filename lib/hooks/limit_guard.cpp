// One timer, one scan for all.
#include "hooks/limit_guard.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace kubewatch::hooks {
namespace {

constexpr Duration kFirstLook{10};
constexpr Duration kPauseBetweenLooks{50};
// A program that was just loaded is looked at for the first time; not while it is being loaded.
constexpr Duration kLookAfterLoading{2};
// A scan takes at most this part of the time.
constexpr int kShare = 20;

}  // namespace

LimitGuard::Watched::Watched(Watched&& other) noexcept
    : guard_(std::exchange(other.guard_, nullptr)), leader_(other.leader_) {}

LimitGuard::Watched& LimitGuard::Watched::operator=(Watched&& other) noexcept {
  if (this != &other) {
    reset();
    guard_ = std::exchange(other.guard_, nullptr);
    leader_ = other.leader_;
  }
  return *this;
}

void LimitGuard::Watched::reset() {
  if (guard_ == nullptr) return;
  guard_->entries_.erase(leader_);
  if (guard_->entries_.empty()) guard_->timer_.reset();
  guard_ = nullptr;
}

void LimitGuard::Watched::restart_cpu() {
  if (guard_ == nullptr) return;
  const auto it = guard_->entries_.find(leader_);
  if (it == guard_->entries_.end()) return;
  Entry& entry = it->second;
  entry.count_anew = true;
  if (entry.cgroup) entry.cgroup_cpu_before = entry.cgroup->usage().cpu;
}

LimitGuard::Watched LimitGuard::watch(int leader, const HookLimits& limits,
                                      std::function<void(std::string)> over,
                                      std::function<bool()> begun,
                                      std::shared_ptr<loop::Cgroup> cgroup) {
  if (!limits.any()) return {};
  Entry& entry = entries_[leader] =
      Entry{limits, std::move(over), std::move(begun), cgroup, limits};
  if (cgroup) entry.scanned = left_by_cgroup(limits, cgroup->limits());
  if (!timer_) plan(kFirstLook);
  return Watched(this, leader);
}

void LimitGuard::plan(Duration wait) {
  timer_ = loop_.after_real(wait, [this] { look(); });
}

void LimitGuard::ask_cgroups(Ends& ends) {
  for (auto& [leader, entry] : entries_) {
    if (!entry.cgroup || !entry.over) continue;
    loop::CgroupUsage usage = entry.cgroup->usage();
    usage.cpu -= entry.cgroup_cpu_before;
    std::string why = over_limit(entry.limits, usage);
    if (!why.empty()) ends.emplace_back(std::exchange(entry.over, {}), std::move(why));
  }
}

void LimitGuard::look() {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  std::vector<pid_t> leaders;
  leaders.reserve(entries_.size());
  Duration pause = kPauseBetweenLooks;
  for (auto& [leader, entry] : entries_) {
    if (!entry.scanned.any()) continue;
    if (!entry.begun) {
      leaders.push_back(leader);
      continue;
    }
    if (entry.begun()) entry.begun = nullptr;
    pause = kLookAfterLoading;
  }
  Ends ends;
  ask_cgroups(ends);
  std::map<pid_t, loop::GroupUsage> usages;
  if (!leaders.empty()) usages = loop::measure_groups(leaders);
  for (auto& [leader, usage] : usages) {
    Entry& entry = entries_.at(leader);
    if (std::exchange(entry.count_anew, false)) entry.cpu_before = usage.cpu;
    usage.cpu -= entry.cpu_before;
    std::string why = over_limit(entry.scanned, usage);
    if (!why.empty() && entry.over) ends.emplace_back(std::exchange(entry.over, {}), why);
  }
  const auto cost = std::chrono::duration_cast<Duration>(Clock::now() - began);
  plan(std::max(pause, cost * kShare));
  for (auto& [over, why] : ends) over(why);
}

}  // namespace kubewatch::hooks
