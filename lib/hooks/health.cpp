#include "hooks/health.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::hooks {
namespace {

bool exceeds(Duration time, Duration limit) {
  return limit > Duration{0} && time > limit;
}

constexpr Duration kLiveness{900000};

// Rules are read again while they run: their times are those of the moment.
Duration liveness_of(const EngineFacts& facts, const HealthLimits& limits) {
  return limits.liveness.value_or(std::max(kLiveness, 2 * facts.longest_run));
}

}  // namespace

std::string HealthReport::text() const {
  if (ok()) return "ok\n";
  std::string out;
  for (const std::string& problem : problems) out += problem + "\n";
  return out;
}

HealthReport judge_readiness(const EngineFacts& facts, const HealthLimits& limits) {
  HealthReport out;
  if (facts.stopping) out.problems.emplace_back("shutting down");
  if (!facts.discovered) {
    out.problems.emplace_back("the server has not said yet what kinds it has");
  }
  if (const auto& lead = facts.lead_trouble; lead && exceeds(lead->lasts, limits.max_stale)) {
    out.problems.push_back(
        fmt::format("it could not lead for {}: {}", base::format_duration(lead->lasts), lead->why));
  }
  for (const ControllerFacts& one : facts.controllers) {
    if (facts.discovered && !one.started && !one.absent) {
      const std::string& why = one.why_not_started;
      out.problems.push_back("controller " + one.controller +
                             " has not started: " + (why.empty() ? "a kind is not synced" : why));
    }
    if (one.oldest && exceeds(*one.oldest, limits.max_wait)) {
      out.problems.push_back(fmt::format("controller {}: an object has waited for its run for {}",
                                         one.controller, base::format_duration(*one.oldest)));
    }
  }
  for (const WatchFacts& watch : facts.watches) {
    if (!watch.needed) continue;
    if (!watch.synced) {
      out.problems.push_back("not synced yet: " + name_of(watch) +
                             (watch.failure.empty() ? "" : ": " + watch.failure));
    } else if (watch.failing_for && exceeds(*watch.failing_for, limits.max_stale)) {
      out.problems.push_back(how_long_failing(watch));
    }
  }
  return out;
}

HealthReport judge_liveness(const EngineFacts& facts, Duration since_turn,
                            const HealthLimits& limits) {
  HealthReport out;
  if (exceeds(since_turn, limits.turn)) {
    out.problems.push_back("the event loop has not turned for " +
                           base::format_duration(since_turn));
  }
  std::optional<Duration> oldest;
  for (const ControllerFacts& one : facts.controllers) {
    if (one.oldest) oldest = std::max(oldest.value_or(Duration{0}), *one.oldest);
  }
  // What has become due only now cannot have been neglected for long.
  if (oldest && exceeds(std::min(*oldest, facts.since_finish.value_or(*oldest)),
                        liveness_of(facts, limits))) {
    out.problems.push_back(fmt::format("objects are due for {}, and no run has ended meanwhile",
                                       base::format_duration(*oldest)));
  }
  return out;
}

}  // namespace kubewatch::hooks
