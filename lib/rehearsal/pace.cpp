#include "rehearsal/pace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::rehearsal {

namespace {

// Posted calls may post again: so many turns without anything new are needed to believe that
// nothing comes.
constexpr int kQuietTurns = 4;

}  // namespace

Pace::Pace(const PaceFacts& start, Duration advance, bool through_retries, PaceLimits limits)
    : runs_before_(start.runs),
      advance_(advance),
      through_retries_(through_retries),
      limits_(limits),
      activity_(start.activity) {}

bool Pace::is_quiet(const PaceFacts& facts) {
  if (facts.activity != activity_ || facts.in_flight) {
    activity_ = facts.activity;
    quiet_turns_ = 0;
    return false;
  }
  return ++quiet_turns_ >= kQuietTurns;
}

// Something waits for a timer of its own: a watch for its backoff, a run for another look.
PaceDecision Pace::jump_unasked(const PaceFacts& facts, const std::string& awaited) {
  const Duration left = advance_ + limits_.unasked - facts.skipped;
  if (!facts.next_timer || *facts.next_timer > facts.now + left) {
    return {PaceMove::stuck, {}, awaited};
  }
  quiet_turns_ = 0;
  return {PaceMove::jump, std::max(*facts.next_timer, facts.now), ""};
}

PaceDecision Pace::decide(const PaceFacts& facts) {
  if (facts.runs > runs_before_ + limits_.runs) {
    return {PaceMove::stuck,
            {},
            fmt::format("more than {} runs in one step: does a hook print something else each time "
                        "it runs, or change what wakes it?",
                        limits_.runs)};
  }
  if (facts.real > limits_.real) {
    return {PaceMove::stuck,
            {},
            fmt::format("not done after {} of real time{}", base::format_duration(limits_.real),
                        facts.hooks > 0 ? ": a hook still runs" : "")};
  }
  const bool quiet = is_quiet(facts);
  if (facts.hooks > 0) {
    // What else is on its way goes first; then the hook is waited for, in real time.
    return {quiet ? PaceMove::wait : PaceMove::turn, {}, ""};
  }
  if (!quiet) return {};
  if (!facts.watches_complete) return jump_unasked(facts, "a watch is not opened again");
  if (!facts.idle)
    return jump_unasked(facts, "the controller waits for something that never comes");
  if (facts.next_timer && *facts.next_timer <= facts.now) {
    quiet_turns_ = 0;
    return {};  // due: the next turn fires it
  }
  // Real time that hooks took is not time that the test case asked for: only what is skipped
  // counts.
  if (facts.skipped < advance_) {
    quiet_turns_ = 0;
    const TimePoint end = facts.now + (advance_ - facts.skipped);
    return {PaceMove::jump, std::min(facts.next_timer.value_or(end), end), ""};
  }
  if (through_retries_ && facts.failing > 0) return jump_unasked(facts, "a run fails for ever");
  return {PaceMove::settled, {}, ""};
}

}  // namespace kubewatch::rehearsal
