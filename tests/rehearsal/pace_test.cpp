// When time may jump, and when a step is over.
#include "rehearsal/pace.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

const TimePoint kStart{Duration{1000000}};

PaceFacts calm() {
  PaceFacts facts;
  facts.now = kStart;
  return facts;
}

// The decision after so many turns in which nothing was new.
PaceDecision after_quiet_turns(Pace& pace, const PaceFacts& facts) {
  PaceDecision decision;
  for (int i = 0; i < 10; ++i) {
    decision = pace.decide(facts);
    if (decision.move != PaceMove::turn) break;
  }
  return decision;
}

}  // namespace

TEST_CASE("a step is over only after some turns in which nothing was new") {
  Pace pace(calm(), Duration{0}, false);
  CHECK(pace.decide(calm()).move == PaceMove::turn);
  CHECK(after_quiet_turns(pace, calm()).move == PaceMove::settled);
}

TEST_CASE("whatever happens makes the wait for quiet begin anew") {
  Pace pace(calm(), Duration{0}, false);
  PaceFacts facts = calm();
  for (int i = 0; i < 20; ++i) {
    facts.activity = static_cast<std::uint64_t>(i + 1);
    CHECK(pace.decide(facts).move == PaceMove::turn);
  }
  CHECK(after_quiet_turns(pace, facts).move == PaceMove::settled);
}

TEST_CASE("time does not move while a hook runs, whatever is due") {
  Pace pace(calm(), Duration{60000}, false);
  PaceFacts facts = calm();
  facts.hooks = 1;
  facts.idle = false;
  facts.next_timer = kStart + Duration{5000};
  for (int i = 0; i < 50; ++i) {
    const auto move = pace.decide(facts).move;
    CHECK((move == PaceMove::turn || move == PaceMove::wait));
  }
}

TEST_CASE("time does not move while a request is on its way") {
  Pace pace(calm(), Duration{60000}, false);
  PaceFacts facts = calm();
  facts.in_flight = true;
  for (int i = 0; i < 50; ++i) CHECK(pace.decide(facts).move == PaceMove::turn);
}

TEST_CASE("advance goes from timer to timer and stops at its target") {
  Pace pace(calm(), Duration{10000}, false);
  PaceFacts facts = calm();
  facts.next_timer = kStart + Duration{4000};
  auto decision = after_quiet_turns(pace, facts);
  REQUIRE(decision.move == PaceMove::jump);
  CHECK(decision.to == kStart + Duration{4000});
  facts.now = decision.to;
  facts.skipped = Duration{4000};
  facts.next_timer = kStart + Duration{60000};
  decision = after_quiet_turns(pace, facts);
  REQUIRE(decision.move == PaceMove::jump);
  CHECK(decision.to == kStart + Duration{10000});
  facts.now = decision.to;
  facts.skipped = Duration{10000};
  CHECK(after_quiet_turns(pace, facts).move == PaceMove::settled);
}

TEST_CASE("real time that hooks take is not part of what advance asked for") {
  Pace pace(calm(), Duration{10000}, false);
  PaceFacts facts = calm();
  facts.now = kStart + Duration{12000};  // all of it real
  facts.next_timer = facts.now + Duration{9000};
  const auto decision = after_quiet_turns(pace, facts);
  REQUIRE(decision.move == PaceMove::jump);
  CHECK(decision.to == facts.now + Duration{9000});
}

TEST_CASE("a retry is not waited for unless retries are to be gone through") {
  PaceFacts facts = calm();
  facts.failing = 1;
  facts.next_timer = kStart + Duration{1000};
  Pace plain(facts, Duration{0}, false);
  CHECK(after_quiet_turns(plain, facts).move == PaceMove::settled);
  Pace through(facts, Duration{0}, true);
  const auto decision = after_quiet_turns(through, facts);
  REQUIRE(decision.move == PaceMove::jump);
  CHECK(decision.to == kStart + Duration{1000});
}

TEST_CASE("a watch that is not open again gets the time of its backoff, and no more than an hour") {
  PaceFacts facts = calm();
  facts.watches_complete = false;
  facts.next_timer = kStart + Duration{800};
  Pace pace(facts, Duration{0}, false);
  CHECK(after_quiet_turns(pace, facts).to == kStart + Duration{800});
  facts.next_timer = kStart + Duration{3 * 3600000};
  Pace late(facts, Duration{0}, false);
  const auto decision = after_quiet_turns(late, facts);
  CHECK(decision.move == PaceMove::stuck);
  CHECK(decision.why == "a watch is not opened again");
}

TEST_CASE("too many runs and too much real time end a step with the reason") {
  PaceLimits limits;
  limits.runs = 3;
  limits.real = Duration{2000};
  Pace pace(calm(), Duration{0}, false, limits);
  PaceFacts facts = calm();
  facts.runs = 3;
  CHECK(pace.decide(facts).move == PaceMove::turn);
  facts.runs = 4;
  auto decision = pace.decide(facts);
  CHECK(decision.move == PaceMove::stuck);
  CHECK(decision.why.find("more than 3 runs") == 0);
  facts.runs = 0;
  facts.real = Duration{2001};
  facts.hooks = 1;
  decision = pace.decide(facts);
  CHECK(decision.move == PaceMove::stuck);
  CHECK(decision.why == "not done after 2s of real time: a hook still runs");
}
