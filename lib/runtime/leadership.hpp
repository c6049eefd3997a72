// Driver: the lead of one process. One Lease when there is one shard (plain leader election), else
// a Lease per shard, a membership Lease (shard_coordinator.hpp), and one that all instances share,
// whose holder is the way the objects are shared out: instances that would do it in another way
// stand by until the last of these is gone. Also the write gate: writes pass only while every Lease
// that is led is fresh.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/lease_keeper.hpp"
#include "runtime/shard_coordinator.hpp"

namespace kubewatch::runtime {

// As ElectionNames.
struct LeadershipNames {
  ElectionNames election;
  std::string shards = "shards";
  std::string plan = "plan";
};

struct LeadershipOptions {
  // lease.name is the Lease's with one shard; else the shared one's, and NAME-0, NAME-1, ... and
  // NAME-member-HASH are those of the shards and the members.
  ElectionOptions election;
  std::size_t shards = 1;
  // With more than one shard: how objects are shared out, in words, kPlanWords (shard_map.hpp)
  // among them.
  std::string plan;

  // Errors: invalid, with the option by its name in `names`.
  Result<void> validate(const LeadershipNames& names = {}) const;
};

// Each may be empty: who does not say how to end runs has none.
struct LeadershipCallbacks {
  std::function<void(std::size_t shard)> gained;
  // Starts nothing more in the shard, and calls `done` when its runs have ended.
  std::function<void(std::size_t shard, std::function<void()> done)> end_runs;
  // Against our will, once: no write passes any more, all work must have ended `within` from now
  // (0: is to be killed at once, as another may lead already), and the process should end.
  std::function<void(const std::string& why, Duration within)> lost;
  // A Lease cannot be read or written, or the other instances not be seen; it is tried again. Each
  // time, until it first leads or stands by: whether that ever comes is the caller's guess.
  std::function<void(const Error& error)> refused;
};

class Leadership {
 public:
  // `client` has no gate and request_timeout of the election; it and `random` must outlive this.
  // Precondition: options.validate().
  Leadership(client::Client& client, LeadershipOptions options, base::Random& random,
             LeadershipCallbacks callbacks);
  ~Leadership();

  // Again as well, once release() has told.
  void start();
  // Nothing new is to start: the others count on us no more, nothing is stood for, and each Lease
  // is given back as soon as end_runs has told that nothing runs under it. Until then it is
  // renewed, and the last one until release(), since what the work says at its end is written under
  // it.
  void leave();
  // When all work has ended: gives all Leases back, then `done`. Bounded by the renew deadline.
  void release(std::function<void()> done);
  client::WriteGate& gate() { return gate_; }
  std::optional<Fence> fence() const;
  // Of the Leases and the list of the instances: what has been in the way for longest.
  std::optional<LeaseTrouble> trouble() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  LeaseGate gate_;
};

}  // namespace kubewatch::runtime
