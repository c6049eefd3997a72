#include "runtime/controller.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/turn.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using core::ObjectKey;

namespace {

ObjectKey key(const std::string& name) {
  return {"shop", name};
}

// Remembers what it was asked for; the test ends the runs.
class Recorder : public Reconciler {
 public:
  void reconcile(const Work& work, std::function<void(RunOutcome)> done) override {
    log += work.key.name + " ";
    if (at_once) return done(RunOutcome::done());
    CHECK(open.count(work.key.name) == 0);
    open[work.key.name] = std::move(done);
  }
  void end(const std::string& name, RunOutcome outcome = {}) {
    const auto done = std::move(open.at(name));
    open.erase(name);
    done(outcome);
  }
  std::string log;
  bool at_once = false;
  std::map<std::string, std::function<void(RunOutcome)>> open;
};

struct Bench {
  loop::EventLoop loop;
  base::Random random{1};
  std::optional<RunSlots> slots{std::in_place, 0};
  Recorder recorder;
  WorkQueueOptions options;

  Bench() { options.retry = {Duration{2}, Duration{10}, 2.0, 0.0}; }
  std::unique_ptr<Controller> make(Reconciler& reconciler) {
    auto out = std::make_unique<Controller>(loop, reconciler, random, *slots, options);
    out->release();
    return out;
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, kLimit); }
  void turn() { test::turn(loop); }
};

}  // namespace

TEST_CASE("a controller holds everything until it is released, and again when told") {
  Bench b;
  Controller controller(b.loop, b.recorder, b.random, *b.slots, b.options);
  CHECK(controller.held());
  controller.add(key("a"), Reason::created);
  b.turn();
  CHECK(b.recorder.log.empty());
  controller.release();
  b.turn();
  CHECK(b.recorder.log == "a ");
  controller.hold();
  controller.add(key("b"), Reason::created);
  b.turn();
  CHECK(b.recorder.log == "a ");
  controller.release();
  b.turn();
  CHECK(b.recorder.log == "a b ");
}

TEST_CASE("one key is never run twice at once, others go on") {
  Bench b;
  b.options.concurrency = 2;
  auto controller = b.make(b.recorder);
  for (const char* name : {"a", "b", "c"}) controller->add(key(name), Reason::created);
  b.turn();
  CHECK(b.recorder.log == "a b ");
  CHECK(controller->running() == 2);
  controller->add(key("a"), Reason::updated);
  b.recorder.end("b");
  b.turn();
  CHECK(b.recorder.log == "a b c ");
  b.recorder.end("a");
  b.turn();
  CHECK(b.recorder.log == "a b c a ");
}

TEST_CASE("outcomes decide what comes next") {
  Bench b;
  auto controller = b.make(b.recorder);
  controller->add(key("a"), Reason::created);
  b.turn();
  SECTION("failed: again after the backoff") {
    b.recorder.end("a", {RunOutcome::Verdict::failed, {}});
    CHECK(controller->queue().is_retrying(key("a")));
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
  }
  SECTION("requeue: again after its time") {
    b.recorder.end("a", {RunOutcome::Verdict::requeue, Duration{5}});
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
  }
  SECTION("not yet: again, but not as a failure") {
    b.recorder.end("a", {RunOutcome::Verdict::not_yet, {}});
    CHECK_FALSE(controller->queue().is_retrying(key("a")));
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
  }
  SECTION("parked: until it is added again") {
    b.recorder.end("a", {RunOutcome::Verdict::parked, {}});
    CHECK(controller->queue().parked().size() == 1);
    controller->add(key("a"), Reason::updated);
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
  }
  SECTION("failed with a delay of its own: again after exactly that") {
    b.recorder.end("a", RunOutcome::failed_for(Duration{1}));
    CHECK(controller->queue().is_retrying(key("a")));
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
  }
  SECTION("failed with at least a delay") {
    const TimePoint before = b.loop.now();
    b.recorder.end("a", RunOutcome::failed(Duration{20}));
    REQUIRE(b.until([&] { return b.recorder.log == "a a "; }));
    CHECK(b.loop.now() - before >= Duration{19});
  }
  SECTION("done: nothing") {
    b.recorder.end("a");
    CHECK(controller->queue().idle());
  }
}

TEST_CASE("a reconciler may be done at once, many times over") {
  Bench b;
  b.recorder.at_once = true;
  auto controller = b.make(b.recorder);
  for (int i = 0; i < 2000; ++i) controller->add(key("k" + std::to_string(i)), Reason::created);
  REQUIRE(b.until([&] { return controller->queue().idle(); }));
  CHECK(controller->running() == 0);
}

TEST_CASE(
    "an object that is done at once and asks for another run at once does not stop the loop") {
  Bench b;
  struct Restless : Reconciler {
    std::size_t runs = 0;
    void reconcile(const Work&, std::function<void(RunOutcome)> done) override {
      ++runs;
      done(RunOutcome::requeue(Duration{0}));
    }
  } restless;
  auto controller = b.make(restless);
  controller->add(key("a"), Reason::created);
  bool fired = false;
  const auto timer = b.loop.after(Duration{1}, [&] { fired = true; });
  REQUIRE(b.until([&] { return fired; }));
  CHECK(restless.runs > 1);
}

TEST_CASE("starts that take long are no single turn of the loop") {
  using Clock = std::chrono::steady_clock;
  struct Slow : Reconciler {
    std::size_t runs = 0;
    void reconcile(const Work&, std::function<void(RunOutcome)> done) override {
      const auto end = Clock::now() + std::chrono::milliseconds(60);
      while (Clock::now() < end) {
      }
      ++runs;
      done(RunOutcome::failed(Duration{60000}));
    }
  };
  Slow slow;
  const auto most_in_a_turn = [&](loop::EventLoop& loop, Controller& controller) {
    controller.release();
    for (int i = 0; i < 4; ++i) controller.add(key("k" + std::to_string(i)), Reason::created);
    std::size_t most = 0, before = 0;
    std::function<void()> look = [&] {
      most = std::max(most, slow.runs - before);
      before = slow.runs;
      if (slow.runs < 4) loop.post(look);
    };
    loop.post(look);
    loop.run_until([&] { return before == 4; }, kLimit);
    return most;
  };
  Bench b;
  SECTION("of a real clock one is enough, and the others come in the next ones") {
    Controller controller(b.loop, slow, b.random, *b.slots, b.options);
    CHECK(most_in_a_turn(b.loop, controller) == 1);
    CHECK(slow.runs == 4);
  }
  SECTION("of virtual time they take none") {
    loop::EventLoop loop{loop::VirtualClock{}};
    Controller controller(loop, slow, b.random, *b.slots, b.options);
    CHECK(most_in_a_turn(loop, controller) == 4);
  }
}

TEST_CASE("the keys that are running are told in order") {
  Bench b;
  b.options.concurrency = 0;  // no limit
  auto controller = b.make(b.recorder);
  for (const char* name : {"c", "a", "b"}) controller->add(key(name), Reason::created);
  b.turn();
  b.recorder.end("b");
  CHECK(controller->running_keys() == std::vector<ObjectKey>{key("a"), key("c")});
}

TEST_CASE("controllers that come and go leave nothing behind in the slots") {
  Bench b;
  b.slots.emplace(1);
  for (int i = 0; i < 10; ++i) b.make(b.recorder);
  auto last = b.make(b.recorder);
  CHECK(b.slots->waiters() == 1);
  last->add(key("a"), Reason::created);
  b.turn();
  CHECK(b.recorder.log == "a ");
}

// The same object stays behind however often it is triggered; the others get their turn.
TEST_CASE("slots stay fair between a controller that never rests and one with a single object") {
  Bench b;
  b.slots.emplace(1);
  b.options.concurrency = 0;
  Recorder other;
  auto busy = b.make(b.recorder);
  auto quiet = b.make(other);
  for (int i = 0; i < 50; ++i) busy->add(key("k" + std::to_string(i)), Reason::created);
  b.turn();
  quiet->add(key("q"), Reason::created);
  b.turn();
  b.recorder.end(b.recorder.open.begin()->first);
  b.turn();
  CHECK(other.log == "q ");
}

TEST_CASE("a second call of done is ignored") {
  Bench b;
  auto controller = b.make(b.recorder);
  controller->add(key("a"), Reason::created);
  controller->add(key("b"), Reason::created);
  b.turn();
  const auto done = b.recorder.open.at("a");
  done({});
  done({});
  CHECK(controller->running() == 1);
}

TEST_CASE("a call of another copy of done is ignored as well, in a later run and after the end") {
  Bench b;
  b.slots.emplace(1);
  auto controller = b.make(b.recorder);
  controller->add(key("a"), Reason::created);
  b.turn();
  const auto of_timer = b.recorder.open.at("a");  // as where a timeout and an answer race
  b.recorder.end("a");
  of_timer({});
  CHECK(controller->running() == 0);
  CHECK(b.slots->used() == 0);
  controller->add(key("a"), Reason::updated);
  b.turn();
  of_timer({});
  CHECK(controller->running() == 1);
  CHECK(b.slots->used() == 1);
  // Never twice at once: Recorder looks at that.
  controller->add(key("a"), Reason::updated);
  b.turn();
  CHECK(b.recorder.log == "a a ");
  controller.reset();
  of_timer({});
  CHECK(b.slots->used() == 0);
}

TEST_CASE("slots cap all controllers together and go round") {
  Bench b;
  b.slots.emplace(1);
  Recorder other;
  auto first = b.make(b.recorder);
  auto second = b.make(other);
  for (const char* name : {"a", "b", "c"}) first->add(key(name), Reason::created);
  for (const char* name : {"x", "y"}) second->add(key(name), Reason::created);
  std::string order;
  for (int i = 0; i < 5; ++i) {
    b.turn();
    REQUIRE(first->running() + second->running() == 1);
    Recorder& running = first->running() == 1 ? b.recorder : other;
    const std::string name = running.open.begin()->first;
    order += name;
    running.end(name);
  }
  b.turn();
  CHECK(order == "axbyc");
}

TEST_CASE("slots within slots: neither's limit is passed, and what is free is found by all") {
  Bench b;
  b.slots.emplace(2);
  RunSlots both(1, &*b.slots);
  Recorder other, third;
  Controller first(b.loop, b.recorder, b.random, both, b.options);
  Controller second(b.loop, other, b.random, both, b.options);
  Controller outside(b.loop, third, b.random, *b.slots, b.options);
  for (Controller* one : {&first, &second, &outside}) {
    one->release();
    for (const char* name : {"a", "b", "c"}) one->add(key(name), Reason::created);
  }
  std::size_t ended = 0;
  for (int i = 0; i < 20 && ended < 9; ++i) {
    b.turn();
    CHECK(first.running() + second.running() <= 1);
    CHECK(first.running() + second.running() + outside.running() <= 2);
    for (Recorder* one : {&b.recorder, &other, &third}) {
      if (one->open.empty()) continue;
      one->end(one->open.begin()->first);
      ++ended;
    }
  }
  CHECK(ended == 9);
  b.turn();
  CHECK(b.slots->used() == 0);
}

TEST_CASE("shutting down starts nothing new and tells when the last run has ended") {
  Bench b;
  auto controller = b.make(b.recorder);
  controller->add(key("a"), Reason::created);
  b.turn();
  controller->add(key("b"), Reason::created);
  bool drained = false;
  controller->shut_down([&] { drained = true; });
  b.turn();
  CHECK_FALSE(drained);
  CHECK(b.recorder.log == "a ");
  b.recorder.end("a");
  REQUIRE(b.until([&] { return drained; }));
  CHECK(b.recorder.log == "a ");
  bool idle_drained = false;
  auto idle = b.make(b.recorder);
  idle->shut_down([&] { idle_drained = true; });
  REQUIRE(b.until([&] { return idle_drained; }));
}

TEST_CASE("runs may end after their controller is gone") {
  Bench b;
  b.slots.emplace(1);
  auto controller = b.make(b.recorder);
  controller->add(key("a"), Reason::created);
  b.turn();
  controller.reset();
  b.recorder.end("a");
  auto next = b.make(b.recorder);
  next->add(key("n"), Reason::created);
  b.turn();
  CHECK(b.recorder.log == "a n ");
}

TEST_CASE("a controller may be destroyed from inside a run") {
  Bench b;
  std::unique_ptr<Controller> controller;
  struct Suicide : Reconciler {
    std::unique_ptr<Controller>* victim = nullptr;
    void reconcile(const Work&, std::function<void(RunOutcome)> done) override {
      victim->reset();
      done({});
    }
  } reconciler;
  reconciler.victim = &controller;
  controller = b.make(reconciler);
  controller->add(key("a"), Reason::created);
  b.turn();
  CHECK(controller == nullptr);
}

TEST_CASE("forgotten keys do not run, progress is told") {
  Bench b;
  auto controller = b.make(b.recorder);
  int progress = 0;
  controller->on_progress([&] { ++progress; });
  controller->add(key("a"), Reason::created);
  controller->forget(key("a"));
  CHECK(progress == 0);
  b.turn();
  CHECK(b.recorder.log.empty());
  CHECK(progress > 0);
}
