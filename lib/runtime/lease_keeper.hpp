// Driver: binds one LeaderElector to the client and the loop. Its client must have no write gate
// and a short request timeout (ElectionOptions::request_timeout). Tells state; logs what a person
// wants to know.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "client/write_gate.hpp"
#include "runtime/leader_election.hpp"
#include "runtime/lease_turns.hpp"

namespace kubewatch::runtime {

// Each may be empty.
struct LeaseKeeperCallbacks {
  std::function<void()> on_leading;
  std::function<void(const std::string& holder)> on_standing_by;
  std::function<void(const LostLead& lost)> on_lost;   // then idle until start()
  std::function<void(bool confirmed)> on_released;     // then idle until start()
  std::function<void(const Error& error)> on_trouble;  // it is tried again
};

// Why a Lease is of no use: it can be neither held nor seen to be held.
struct LeaseTrouble {
  Error error;      // the last one
  TimePoint since;  // of the first in a row, by boot_clock
};

// A trouble while it stays, and when it is to be told: when it comes, when its words change, and
// again each minute. Plain.
class LastingTrouble {
 public:
  // Whether it is to be told now.
  bool note(const Error& error, TimePoint now);
  void is_over();
  // What comes next is another one, though it may have been told of already.
  void forget() { trouble_.reset(); }
  const std::optional<LeaseTrouble>& get() const { return trouble_; }

 private:
  std::optional<LeaseTrouble> trouble_;
  std::string told_;
  TimePoint told_at_{};
};

class LeaseKeeper {
 public:
  // `client`, `random` and `turns` must outlive it. Callbacks come from the loop, also from start()
  // and release(); it may be destroyed from none of them. `turns`: each request waits for one;
  // null: it is sent at once.
  LeaseKeeper(client::Client& client, ElectionOptions options, base::Random& random,
              LeaseKeeperCallbacks callbacks, LeaseTurns* turns = nullptr);

  void start();
  void release();
  ElectionState state() const { return elector_.state(); }
  std::optional<Fence> fence() const { return elector_.fence(); }
  const ElectionOptions& options() const { return elector_.options(); }
  const std::optional<LeaseTrouble>& trouble() const { return trouble_.get(); }

 private:
  void run(ElectionActions actions);
  void send(std::function<client::PendingPtr()> request);
  void wait_until(TimePoint at);
  void answered(Result<Json> answer);
  void tell_trouble(const ElectionTrouble& trouble);

  client::Client& client_;
  LeaderElector elector_;
  LeaseKeeperCallbacks callbacks_;
  LeaseTurns* turns_;
  LeaseTurns::Turn turn_;  // of the request, or what it waits for
  client::PendingPtr request_;
  loop::Timer timer_;
  LastingTrouble trouble_;
};

// Lets writes through while the fence allows them. `fence`: absent when nothing is led.
class LeaseGate : public client::WriteGate {
 public:
  explicit LeaseGate(std::function<std::optional<Fence>()> fence) : fence_(std::move(fence)) {}
  Result<Duration> admit() override;

 private:
  std::function<std::optional<Fence>()> fence_;
};

}  // namespace kubewatch::runtime
