// Decides which shards this instance stands for, runs and hands over. A plain class without I/O.
//
// The scheme: each shard has a Lease of its own, and only its holder runs the shard's objects; that
// alone keeps two instances apart, under the rules of leader_election.hpp. Each instance also keeps
// a membership Lease (as kube-apiservers do), and every retry period lists those of all. The
// members that are alive, by the same rule of local observation, give each shard one desired owner
// (assign_shards). An instance stands only for the shards that it should own. An owner that should
// not own a shard any more starts nothing new in it, lets its running hooks end, and releases the
// Lease; a Lease that was released or has expired is taken at the next look. Instances that see
// different members for a while only wait for each other.
//
// Convergence: after a join or a leave, within one listing, the longest running hook and 2.2 retry
// periods; after a crash within lease_duration and 5.4 retry periods, while the server answers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "runtime/lease.hpp"

namespace kubewatch::runtime {

struct StandFor {  // start the shard's election
  std::size_t shard;
};
struct Withdraw {  // release the shard's Lease, or stop standing for it
  std::size_t shard;
};
struct EndRuns {  // nothing new in this shard; runs_ended() when its hooks have ended
  std::size_t shard;
};
using ShardAction = std::variant<StandFor, Withdraw, EndRuns>;
using ShardActions = std::vector<ShardAction>;

class ShardCoordinator {
 public:
  ShardCoordinator(std::size_t shards, std::string identity, Duration lease_duration);

  // The membership Leases as listed now; those of others that are released do not count.
  ShardActions on_members(TimePoint now, const std::vector<Lease>& members);
  void on_leading(std::size_t shard);
  ShardActions runs_ended(std::size_t shard);
  // The shard's election has ended by our will.
  ShardActions on_released(std::size_t shard);
  // No shard is wanted any more: the process ends.
  ShardActions leave();
  // It wants shards again.
  void stay() { leaving_ = false; }

  std::set<std::size_t> leading() const;
  const std::vector<std::string>& live_members() const { return live_; }
  // Names of membership Leases that nobody has renewed for ten lease durations: to be deleted.
  std::vector<Lease> abandoned(TimePoint now) const;

 private:
  enum class State { idle, standing, leading, ending_runs, releasing };
  struct Member {
    Lease lease;
    TimePoint seen_at;
  };
  bool is_live(TimePoint now, const Member& member) const;
  ShardActions settle();

  std::string identity_;
  Duration lease_duration_;
  std::vector<State> states_;
  std::vector<bool> wanted_;
  std::map<std::string, Member> members_;  // by name of the Lease
  std::vector<std::string> live_;
  bool leaving_ = false;
};

}  // namespace kubewatch::runtime
