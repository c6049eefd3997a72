// Whether a process that runs controllers is alive, and whether it does its work. Pure: facts and
// times in, a judgement with its reasons out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hooks/facts.hpp"

namespace kubewatch::hooks {

// 0 = not looked at.
struct HealthLimits {
  // A watch that has failed to reconnect for longer, or Leases that were of no use.
  Duration max_stale{300000};
  Duration max_wait{600000};  // the oldest key that is due has waited for longer
  // Something is due, and no run has ended for longer. Absent: 15 minutes, or twice as long as a
  // run of the present rules may take.
  std::optional<Duration> liveness;
  Duration turn{30000};  // the loop has not turned for longer
};

struct HealthReport {
  std::vector<std::string> problems;
  bool ok() const { return problems.empty(); }
  std::string text() const;  // "ok\n", or a line per problem
};

// Ready: every controller has its caches, they are fresh, and the work is kept up with.
HealthReport judge_readiness(const EngineFacts& facts, const HealthLimits& limits);
// Alive: a restart would not help. An idle engine is alive, and so is one whose server is gone.
// `since_turn`: since the loop was last seen to turn.
HealthReport judge_liveness(const EngineFacts& facts, Duration since_turn,
                            const HealthLimits& limits);

}  // namespace kubewatch::hooks
