// What a rule keeps over restarts: before, during and after a run.
#include "hooks/rule_state.hpp"

#include <chrono>

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using runtime::Reason;
using runtime::RunOutcome;

namespace {

const core::ObjectKey kA{"shop", "a"};
const core::ObjectKey kB{"shop", "b"};

WallTime at(std::int64_t ms) {
  return WallTime{} + std::chrono::milliseconds{ms};
}

core::ObjectMeta meta(const std::string& uid) {
  core::ObjectMeta out;
  out.namespace_ = kA.namespace_;
  out.name = kA.name;
  out.uid = uid;
  return out;
}

struct World {
  World() {
    rule.name = "web";
    rule.has_for = true;
    rule.for_.gvk = {"demo.dev", "v1", "Website"};
    auto opened = StateStore::open(folder.file("state"), {"boot", "", ""});
    REQUIRE(opened.ok());
    store = std::move(*opened);
  }
  RuleState state() const { return {store.get(), rule}; }

  const test::RuleFolder folder;
  Rule rule;
  std::unique_ptr<StateStore> store;
};

}  // namespace

TEST_CASE("without a state nothing is known and nothing is kept") {
  const Rule rule;
  RuleState state(nullptr, rule);
  CHECK_FALSE(state.is_kept());
  state.set_to_run(kA, "u-a");
  state.know(kA, "u-a");
  state.ask(kA, Reason::manual);
  state.forget(kA);
  state.forget_other_kinds();
  CHECK(state.find(kA) == nullptr);
  CHECK(state.all().empty());
  CHECK_FALSE(state.end("r1"));
}

TEST_CASE("an object counts as handled only once its run has ended") {
  const World world;
  RuleState state = world.state();
  state.begin("r1", meta("u-a"), "input", at(7000));
  REQUIRE(state.find(kA) != nullptr);
  CHECK(state.find(kA)->hash.empty());
  CHECK(state.find(kA)->ran == 7000);
  CHECK(state.find(kA)->kind == "Website.demo.dev");
  const auto handled = state.end("r1");
  REQUIRE(handled);
  CHECK(handled->hash == state.mark("input"));
  CHECK(handled->hash != state.mark("other input"));
  CHECK_FALSE(state.end("r1"));
  state.begin("r2", meta("u-a"), "input", at(8000));
  state.drop("r2");
  CHECK_FALSE(state.end("r2"));
}

TEST_CASE("how a run ended decides what the next start does with its object") {
  HandledObject handled;
  handled.hash = "mark";
  const auto done = RuleState::ended(handled, RunOutcome::done(), false, "", at(1000));
  REQUIRE(done);
  CHECK(*done == handled);
  const auto again =
      RuleState::ended(handled, RunOutcome::requeue(Duration{500}), true, "no", at(1000));
  REQUIRE(again);
  CHECK(again->due == 1500);
  CHECK_FALSE(again->parked);
  const auto parked = RuleState::ended(handled, RunOutcome::parked(), true,
                                       std::string(2 * kMaxWhy, 'x'), at(1000));
  REQUIRE(parked);
  CHECK(parked->parked);
  CHECK(parked->why.size() < kMaxWhy + 10);  // and what stands for the rest
  // Its attempts are used up.
  CHECK(RuleState::ended(handled, RunOutcome::failed(), true, "failed", at(0)));
  CHECK_FALSE(RuleState::ended(handled, RunOutcome::failed(), false, "failed", at(0)));
  CHECK_FALSE(RuleState::ended(handled, RunOutcome::not_yet(), false, "", at(0)));
}

TEST_CASE("what waits does not wait for a clock that was set back since") {
  HandledObject handled;
  handled.ran = 86'400'000;
  handled.due = 86'460'000;
  const auto now = RuleState::by_the_clock_of(at(5000), handled);
  CHECK(now.ran == 5000);
  CHECK(now.due == 65'000);
  // By a clock that went on it is as it was, due or not.
  CHECK(RuleState::by_the_clock_of(at(86'400'000), handled) == handled);
  CHECK(RuleState::by_the_clock_of(at(99'000'000), handled) == handled);
  handled.due = 0;
  CHECK(RuleState::by_the_clock_of(at(5000), handled).due == 0);
}

TEST_CASE("what was asked for is not handled before it has run, whatever its mark says") {
  const World world;
  RuleState state = world.state();
  HandledObject handled = to_be_handled("Website.demo.dev", "u-a", 7);
  handled.hash = "mark";
  state.set(kA, handled);
  state.ask(kA, Reason::updated);
  CHECK(*state.find(kA) == handled);
  for (const Reason reason : {Reason::manual, Reason::external, Reason::schedule}) {
    state.set(kA, handled);
    state.ask(kA, reason);
    CHECK(*state.find(kA) == to_be_handled("Website.demo.dev", "u-a", 7));
  }
  state.ask(kB, Reason::manual);
  CHECK(state.find(kB) == nullptr);
}

TEST_CASE("an object that is known stays what it is known as") {
  const World world;
  RuleState state = world.state();
  state.know(kA, "u-a");
  REQUIRE(state.find(kA) != nullptr);
  state.know(kA, "u-new");
  CHECK(state.find(kA)->uid == "u-a");
  state.set_to_run(kA, "u-new");
  CHECK(state.find(kA)->uid == "u-new");
}

TEST_CASE("objects of the kind that the rule was for before are forgotten") {
  const World world;
  RuleState state = world.state();
  state.set(kA, to_be_handled("Page.demo.dev", "u-a"));
  state.set(kB, to_be_handled("", "u-b"));
  state.forget_other_kinds();
  CHECK(state.find(kA) == nullptr);
  REQUIRE(state.find(kB) != nullptr);
  state.learn_kind(kB, *state.find(kB));
  CHECK(state.find(kB)->kind == "Website.demo.dev");
}

TEST_CASE("of a parked object it is told how long ago its run began and how it ended") {
  const World world;
  RuleState state = world.state();
  CHECK_FALSE(state.last_run(kA, at(0)));
  HandledObject handled = to_be_handled("Website.demo.dev", "u-a", 1000);
  state.set(kA, handled);
  CHECK_FALSE(state.last_run(kA, at(5000)));
  handled.why = "permanent: no such plan";
  state.set(kA, handled);
  auto last = state.last_run(kA, at(5000));
  REQUIRE(last);
  CHECK(last->outcome == "permanent: no such plan");
  CHECK(last->by_state);
  CHECK(last->ago == Duration{4000});
  // The clock was set back.
  last = state.last_run(kA, at(500));
  REQUIRE(last);
  CHECK(last->ago == Duration{0});
}
