#include "runtime/shard_coordinator.hpp"

#include <algorithm>
#include <utility>

#include "runtime/shard_map.hpp"

namespace kubewatch::runtime {

namespace {
constexpr int kAbandonedAfter = 10;  // lease durations
}

ShardCoordinator::ShardCoordinator(std::size_t shards, std::string identity,
                                   Duration lease_duration)
    : identity_(std::move(identity)),
      lease_duration_(lease_duration),
      states_(shards, State::idle),
      wanted_(shards, false) {}

bool ShardCoordinator::is_live(TimePoint now, const Member& member) const {
  const Duration lasts =
      member.lease.duration > Duration{0} ? member.lease.duration : lease_duration_;
  return !member.lease.holder.empty() && now < member.seen_at + lasts;
}

ShardActions ShardCoordinator::on_members(TimePoint now, const std::vector<Lease>& members) {
  std::map<std::string, Member> seen;
  for (const Lease& lease : members) {
    const std::string name = base::string_at(lease.object, {"metadata", "name"});
    const auto before = members_.find(name);
    const bool known = before != members_.end() && before->second.lease.same_spec(lease);
    seen[name] = {lease, known ? before->second.seen_at : now};
  }
  members_ = std::move(seen);
  std::set<std::string> live = {identity_};
  for (const auto& [name, member] : members_) {
    if (is_live(now, member)) live.insert(member.lease.holder);
  }
  live_.assign(live.begin(), live.end());
  const auto owners = assign_shards(live_, states_.size());
  for (std::size_t shard = 0; shard < states_.size(); ++shard) {
    wanted_[shard] = !leaving_ && owners[shard] == identity_;
  }
  return settle();
}

ShardActions ShardCoordinator::settle() {
  ShardActions out;
  for (std::size_t shard = 0; shard < states_.size(); ++shard) {
    State& state = states_[shard];
    if (wanted_[shard] && state == State::idle) {
      state = State::standing;
      out.push_back(StandFor{shard});
    } else if (!wanted_[shard] && state == State::standing) {
      state = State::releasing;
      out.push_back(Withdraw{shard});
    } else if (!wanted_[shard] && state == State::leading) {
      state = State::ending_runs;
      out.push_back(EndRuns{shard});
    }
  }
  return out;
}

// While releasing, a take-over that was on its way may still succeed; it is released right away.
void ShardCoordinator::on_leading(std::size_t shard) {
  if (states_[shard] == State::standing) states_[shard] = State::leading;
}

ShardActions ShardCoordinator::runs_ended(std::size_t shard) {
  if (states_[shard] != State::ending_runs) return {};
  states_[shard] = State::releasing;
  return {Withdraw{shard}};
}

ShardActions ShardCoordinator::on_released(std::size_t shard) {
  states_[shard] = State::idle;
  return settle();
}

ShardActions ShardCoordinator::leave() {
  leaving_ = true;
  std::fill(wanted_.begin(), wanted_.end(), false);
  return settle();
}

std::set<std::size_t> ShardCoordinator::leading() const {
  std::set<std::size_t> out;
  for (std::size_t shard = 0; shard < states_.size(); ++shard) {
    if (states_[shard] == State::leading) out.insert(shard);
  }
  return out;
}

std::vector<Lease> ShardCoordinator::abandoned(TimePoint now) const {
  std::vector<Lease> out;
  for (const auto& [name, member] : members_) {
    if (member.lease.holder == identity_) continue;
    if (now >= member.seen_at + lease_duration_ * kAbandonedAfter) out.push_back(member.lease);
  }
  return out;
}

}  // namespace kubewatch::runtime
