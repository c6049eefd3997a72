// The flags of leader election and shards, and what joins runtime::Leadership to the engine of one
// command. Used by run-controller.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "hooks/engine.hpp"
#include "hooks/rbac.hpp"
#include "hooks/start_patience.hpp"
#include "runtime/leadership.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

struct ElectionPlan {
  runtime::LeadershipOptions leadership;
  hooks::ElectionRights rights() const {
    return {leadership.election.lease.namespace_, leadership.shards > 1};
  }
  hooks::ShardPlan shards;
  Duration hand_over{};  // twice what it takes to find out that a leader is gone
  // on_fatal when Leases were refused, or the server not reached, for so long; absent: never.
  std::optional<Duration> give_up_start;
};

class ElectionFlags {
 public:
  void bind(CLI::App& app);
  // Any of them.
  bool given() const;
  // Absent without leader election. What is not given: the name from the rules' names, the
  // namespace of the context, HOSTNAME_UUID. Errors: invalid, naming the flag.
  Result<std::optional<ElectionPlan>> plan(const std::vector<hooks::Rule>& rules,
                                           const std::string& namespace_,
                                           base::Random& random) const;

 private:
  bool leader_elect_ = false;
  std::string lease_name_;
  std::string lease_namespace_;
  std::string identity_;
  std::optional<Duration> lease_duration_;
  std::optional<Duration> renew_deadline_;
  std::optional<Duration> retry_period_;
  std::optional<std::size_t> shards_;
  std::string shard_by_;
};

class Election {
 public:
  struct Callbacks {
    // See runtime::LeadershipCallbacks.
    std::function<void(const std::string& why, Duration within)> on_lost;
    // Once plan.give_up_start is over, each time that a Lease is asked for.
    std::function<void(const Error&)> on_fatal;
  };
  // From now on the session's client writes only while leading. All must outlive it but the engine,
  // which is not touched after its end.
  Election(Session& session, ElectionPlan plan, hooks::Engine& engine, Callbacks callbacks);
  ~Election();
  void start() { leadership_.start(); }
  // Once the engine shuts down: others get what nothing runs under, and the rest as it ends.
  void leave() { leadership_.leave(); }
  // After the engine has shut down.
  void release(std::function<void()> done) { leadership_.release(std::move(done)); }

 private:
  runtime::LeadershipCallbacks callbacks_of(hooks::Engine& engine);

  Session& session_;
  Callbacks callbacks_;
  hooks::StartPatience patience_;
  client::Client client_;  // without a gate, and impatient; nothing records what it asks
  runtime::Leadership leadership_;
};

}  // namespace kubewatch::cli
