// When time may move in a rehearsal, and when a step is over. Hooks are real processes, so time
// jumps only while none runs and nothing is on its way; then it goes from one timer to the next,
// and never beyond what the test case asked for. Pure: facts in, decision out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"

namespace kubewatch::rehearsal {

struct PaceFacts {
  TimePoint now;
  Duration real{0};            // real time spent on this step
  Duration skipped{0};         // time that was skipped in it; real time passes besides
  std::uint64_t activity = 0;  // grows with everything that happens
  bool in_flight = false;      // requests, deliveries, the server's own work
  bool watches_complete = true;
  bool idle = true;  // nothing due or running in the engine
  std::size_t hooks = 0;
  std::size_t failing = 0;  // objects that wait for their retry
  std::uint64_t runs = 0;
  std::optional<TimePoint> next_timer;
};

struct PaceLimits {
  Duration real{60000};
  std::uint64_t runs = 200;  // of one step: more is a loop
  // Time that may pass without being asked for, until watches are open again or retries are over.
  Duration unasked{3600000};
};

enum class PaceMove {
  turn,     // let the loop turn once, without waiting
  wait,     // let it wait for a hook
  jump,     // skip to `to`
  settled,  // the step is over
  stuck     // it never will be; `why`
};

struct PaceDecision {
  PaceMove move = PaceMove::turn;
  TimePoint to{};
  std::string why;
};

class Pace {
 public:
  // `advance`: the time to skip; 0: only what is due now. `through_retries`: the step is not over
  // while an object waits for its retry.
  Pace(const PaceFacts& start, Duration advance, bool through_retries, PaceLimits limits = {});

  PaceDecision decide(const PaceFacts& facts);

 private:
  bool is_quiet(const PaceFacts& facts);
  PaceDecision jump_unasked(const PaceFacts& facts, const std::string& awaited);

  std::uint64_t runs_before_;
  Duration advance_;
  bool through_retries_;
  PaceLimits limits_;
  std::uint64_t activity_;
  int quiet_turns_ = 0;
};

}  // namespace kubewatch::rehearsal
