// What the end of a worker means for its run.
#include "hooks/worker_end.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

loop::ProcessExit exited(int code) {
  loop::ProcessExit out;
  out.code = code;
  return out;
}

loop::ProcessExit killed(int signal) {
  loop::ProcessExit out;
  out.signal = signal;
  return out;
}

}  // namespace

TEST_CASE("a worker that ends before it answers has died, by itself unless a signal ended it") {
  const WorkerEnd end;
  HookExit out = end.of_run({}, exited(3), "");
  CHECK(out.died == "the worker ended (exit code 3) before it answered");
  CHECK(out.by_itself);
  CHECK_FALSE(out.broken);
  CHECK_FALSE(end.of_run({}, exited(128 + 9), "").by_itself);
  out = end.of_run({}, killed(9), R"({"id":)");
  CHECK(out.died ==
        "the worker ended (signal SIGKILL) in the middle of a line, before it answered");
  CHECK_FALSE(out.by_itself);
  CHECK(out.out == R"({"id":)");
}

TEST_CASE("a worker that was ended for something has not died of itself") {
  WorkerEnd end;
  SECTION("its run's timeout") {
    end.timed_out = true;
    CHECK(end.of_run({}, killed(15), "").timed_out);
  }
  SECTION("its run was canceled") {
    end.canceled = true;
    CHECK(end.of_run({}, killed(15), "").canceled);
  }
  SECTION("a limit") {
    end.over_limit = "more than limits.memory 256Mi";
    CHECK(end.of_run({}, killed(9), "").over_limit == "more than limits.memory 256Mi");
  }
  CHECK_FALSE(end.of_run({}, killed(9), "").died);
}

TEST_CASE("of an answer that was none it is told what it was, and what was printed is kept") {
  WorkerEnd end;
  end.printed = "hello";
  WorkerQueue::Ended ended;
  ended.broken = "an empty line";
  const HookExit out = end.of_run(ended, killed(9), "begun");
  CHECK(out.broken == "the worker printed an empty line; it was ended");
  CHECK_FALSE(out.died);
  CHECK(out.out == "hello");
}

TEST_CASE("a worker without a run ends by itself, or over a limit") {
  WorkerEnd end;
  CHECK(end.without_run(exited(1)) == "the worker ended by itself: exit code 1");
  CHECK(end.without_run(killed(11)) == "the worker ended by itself: signal SIGSEGV");
  end.over_limit = "more than limits.cpu 5s";
  CHECK(end.without_run(killed(9)) == "the worker was ended: used more than limits.cpu 5s");
}

TEST_CASE("what the next worker waits for is told with how long that takes") {
  const TimePoint now{Duration{1000}};
  WorkerQueue::Hold hold;
  hold.until = now + Duration{1500};
  hold.ended = 1;
  CHECK(why_held(hold, now) == "a worker ended without an answer; the next is started in " +
                                   base::format_duration(Duration{1500}));
  hold.ended = 4;
  CHECK(why_held(hold, now).starts_with("workers ended 4 times without an answer; "));
}
