// Which worker gets which run, and what lines and ends mean.
#include "hooks/worker_queue.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Kind = WorkerQueue::Step::Kind;

struct Rig {
  explicit Rig(std::size_t slots) : queue(slots, {Duration{1000}, Duration{8000}, 2.0, 0.0}) {}

  // "start 0, send 0 a": all that is to do now.
  std::string steps() {
    std::string out;
    while (const auto step = queue.next(now)) {
      if (!out.empty()) out += ", ";
      out += step->kind == Kind::start ? "start " : "send ";
      out += std::to_string(step->slot);
      if (step->kind == Kind::send) out += " " + step->id;
    }
    return out;
  }
  bool line(std::size_t slot, const std::string& text, bool more = false) {
    return queue.on_line(slot, parse_worker_answer(text), more);
  }
  WorkerQueue::Ended ended(std::size_t slot) { return queue.on_ended(slot, now, random); }

  WorkerQueue queue;
  TimePoint now{Duration{1'000'000}};
  base::Random random{1};
};

}  // namespace

TEST_CASE("workers are started when runs need them, up to the slots, and used again") {
  Rig rig(2);
  CHECK(rig.steps().empty());
  rig.queue.submit("a");
  CHECK(rig.steps() == "start 0, send 0 a");
  rig.queue.submit("b");
  rig.queue.submit("c");
  CHECK(rig.steps() == "start 1, send 1 b");
  CHECK_FALSE(rig.queue.due());
  CHECK(rig.line(1, R"({"id":"b"})"));
  CHECK(rig.steps() == "send 1 c");
  CHECK(rig.line(0, R"({"id":"a"})"));
  CHECK(rig.line(1, R"({"id":"c"})"));
  CHECK(rig.steps().empty());
}

TEST_CASE("a line that is not the answer ends the worker, and with it the run as broken") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"id":"zz"})", "the wrong id \"zz\""},
      {R"({"id":"old"})", "the earlier id \"old\""},
      {R"({"id":"a")", "no answer"},
      {"hello", "no answer"},
      {"", "an empty line"},
      {"[]", "no answer"},
      {R"({"exit":0})", "without \"id\""},
      {R"({"id":"a","exit":256})", "from 0 to 255"},
      {R"({"id":"a","exit":"0"})", "from 0 to 255"},
      {R"({"id":"a","documents":{}})", "must be a list"},
      {R"({"id":"a","documnets":[]})", "unknown member"},
      {R"({"id":"a","id":"b"})", "twice"},
      {R"({"id":"a"} {"id":"a"})", "no answer"},
  };
  for (const auto& [text, wanted] : cases) {
    Rig rig(1);
    rig.queue.submit("old");
    CHECK(rig.steps() == "start 0, send 0 old");
    REQUIRE(rig.line(0, R"({"id":"old"})"));
    rig.queue.submit("a");
    CHECK(rig.steps() == "send 0 a");
    INFO(text);
    CHECK_FALSE(rig.line(0, text));
    // Nothing it says later can save it.
    CHECK_FALSE(rig.line(0, R"({"id":"a"})"));
    rig.queue.submit("b");
    CHECK(rig.steps().empty());
    const auto ended = rig.ended(0);
    CHECK(ended.id == "a");
    CHECK(ended.broken.find(wanted) != std::string::npos);
  }
}

TEST_CASE(
    "an answer that comes twice ends the worker, and the run it has by then gets another one") {
  Rig rig(1);
  rig.queue.submit("old");
  rig.steps();
  REQUIRE(rig.line(0, R"({"id":"old"})"));
  rig.queue.submit("a");
  rig.queue.submit("b");
  CHECK(rig.steps() == "send 0 a");
  const std::string what = GENERATE("nothing", "a line", "bytes", "more", "unwanted");
  INFO(what);
  CHECK_FALSE(rig.line(0, R"({"id":"old"})", what == "more"));
  CHECK(rig.queue.repeats(0) == "old");
  rig.queue.on_stopped(0);  // as the pool ends it
  // What may be its answer, or begin it: then it is not known that there is none.
  if (what == "a line") CHECK_FALSE(rig.line(0, R"({"id":"a"})"));
  if (what == "bytes") rig.queue.on_bytes(0);
  if (what == "unwanted") rig.queue.keep_run(0);
  const auto ended = rig.ended(0);
  CHECK(ended.broken.find("the earlier id \"old\"") != std::string::npos);
  CHECK(ended.id == (what == "nothing" ? "" : "a"));
  CHECK(ended.given == (what == "nothing" ? "a" : ""));
  CHECK(rig.queue.waits("a") == (what == "nothing"));
  rig.now += Duration{1000};
  CHECK(rig.steps() == (what == "nothing" ? "start 0, send 0 a" : "start 0, send 0 b"));
}

TEST_CASE("a run goes to another worker once for answers that come twice, then it fails") {
  Rig rig(2);
  for (const char* id : {"one", "two"}) rig.queue.submit(id);
  CHECK(rig.steps() == "start 0, send 0 one, start 1, send 1 two");
  REQUIRE(rig.line(0, R"({"id":"one"})"));
  rig.queue.submit("a");
  CHECK(rig.steps() == "send 0 a");
  CHECK_FALSE(rig.line(0, R"({"id":"one"})"));
  REQUIRE(rig.line(1, R"({"id":"two"})"));
  CHECK(rig.ended(0).given == "a");
  CHECK(rig.steps() == "send 1 a");
  CHECK_FALSE(rig.line(1, R"({"id":"two"})"));
  CHECK(rig.queue.repeats(1) == "two");
  const auto ended = rig.ended(1);
  CHECK(ended.id == "a");
  CHECK(ended.given.empty());
}

TEST_CASE("two lines for one invocation are no answer") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.steps();
  CHECK_FALSE(rig.line(0, R"({"id":"a"})", true));
  CHECK(rig.ended(0).broken.find("more than one line") != std::string::npos);
}

TEST_CASE("a line that nobody asked for ends the worker, and no run") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.steps();
  REQUIRE(rig.line(0, R"({"id":"a"})"));
  CHECK_FALSE(rig.line(0, R"({"id":"a"})"));
  const auto ended = rig.ended(0);
  CHECK(ended.id.empty());
  CHECK(ended.broken == "a line that nobody asked for");
}

TEST_CASE("a line without an end is broken by its length") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.steps();
  rig.queue.on_overflow(0, 4096);
  const auto ended = rig.ended(0);
  CHECK(ended.id == "a");
  CHECK(ended.broken.find("4096 bytes") != std::string::npos);
}

TEST_CASE("a worker that dies gives its run back, and the next one waits longer each time") {
  Rig rig(2);
  rig.queue.submit("a");
  rig.steps();
  auto ended = rig.ended(0);
  CHECK(ended.id == "a");
  CHECK(ended.broken.empty());
  CHECK(ended.fault);
  rig.queue.submit("b");
  CHECK(rig.steps().empty());
  REQUIRE(rig.queue.due());
  CHECK(*rig.queue.due() == rig.now + Duration{1000});
  rig.now += Duration{1000};
  CHECK(rig.steps() == "start 0, send 0 b");
  rig.ended(0);
  rig.queue.submit("c");
  CHECK(*rig.queue.due() == rig.now + Duration{2000});
  // An answer makes it short again.
  rig.now += Duration{2000};
  CHECK(rig.steps() == "start 0, send 0 c");
  REQUIRE(rig.line(0, R"({"id":"c"})"));
  rig.ended(0);
  rig.queue.submit("d");
  CHECK(*rig.queue.due() == rig.now + Duration{1000});
}

TEST_CASE("workers that were started together and end together are one failure") {
  Rig rig(3);
  for (const char* id : {"a", "b", "c"}) rig.queue.submit(id);
  CHECK(rig.steps() == "start 0, send 0 a, start 1, send 1 b, start 2, send 2 c");
  const TimePoint first = rig.now;
  for (const std::size_t slot : {1, 0, 2}) {
    rig.ended(slot);
    rig.now += Duration{10};
  }
  for (const char* id : {"a", "b", "c"}) rig.queue.submit(id);
  CHECK(*rig.queue.due() == first + Duration{1000});
  CHECK(rig.queue.hold(rig.now)->ended == 1);
  rig.now = first + Duration{1000};
  CHECK(rig.steps() == "start 0, send 0 a, start 1, send 1 b, start 2, send 2 c");
  // One that was started after a failure is the next one.
  rig.ended(0);
  rig.queue.submit("a");
  CHECK(*rig.queue.due() == rig.now + Duration{2000});
  rig.now += Duration{2000};
  CHECK(rig.steps() == "start 0, send 0 a");
  rig.ended(2);  // of those before: it is not worth another wait
  rig.queue.submit("c");
  CHECK(*rig.queue.due() == rig.now);
  rig.ended(0);
  CHECK(*rig.queue.due() == rig.now + Duration{4000});
}

TEST_CASE("how long runs wait for a worker, and after how many ends, can be asked") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.steps();
  rig.queue.submit("b");
  CHECK_FALSE(rig.queue.hold(rig.now));  // it waits for the other run
  rig.ended(0);
  rig.queue.submit("c");
  REQUIRE(rig.queue.hold(rig.now));
  CHECK(rig.queue.hold(rig.now)->until == rig.now + Duration{1000});
  CHECK(rig.queue.hold(rig.now)->ended == 1);
  CHECK(rig.queue.hold(rig.now)->runs == 2);
  CHECK(rig.queue.waits("c"));
  CHECK_FALSE(rig.queue.waits("a"));
  rig.now += Duration{1000};
  CHECK_FALSE(rig.queue.hold(rig.now));
  CHECK(rig.steps() == "start 0, send 0 b");
  rig.ended(0);
  CHECK(rig.queue.hold(rig.now)->ended == 2);
}

TEST_CASE("a run that could not be sent, because its worker had ended, goes to the next one") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.queue.submit("b");
  CHECK(rig.steps() == "start 0, send 0 a");
  REQUIRE(rig.line(0, R"({"id":"a"})"));
  CHECK(rig.steps() == "send 0 b");
  rig.queue.on_not_sent(0);
  CHECK(rig.steps().empty());
  CHECK(rig.ended(0).id.empty());
  rig.now += Duration{1000};
  CHECK(rig.steps() == "start 0, send 0 b");
}

TEST_CASE("a worker that ends before its first run fails that, whether it was sent or not") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.queue.submit("b");
  CHECK(rig.steps() == "start 0, send 0 a");
  rig.queue.on_not_sent(0);
  CHECK(rig.ended(0).id == "a");
  rig.now += Duration{1000};
  CHECK(rig.steps() == "start 0, send 0 b");
}

TEST_CASE("a run whose worker is of an older program goes to another one, at once") {
  Rig rig(1);
  rig.queue.submit("a");
  CHECK(rig.steps() == "start 0, send 0 a");
  rig.queue.on_outdated(0);
  CHECK(rig.steps().empty());
  CHECK(rig.queue.waits("a"));
  CHECK_FALSE(rig.line(0, R"({"id":"a"})"));
  const auto ended = rig.ended(0);
  CHECK(ended.id.empty());
  CHECK_FALSE(ended.fault);
  CHECK(rig.steps() == "start 0, send 0 a");
}

TEST_CASE("while a new worker has to wait, the others work on") {
  Rig rig(2);
  rig.queue.submit("a");
  rig.queue.submit("b");
  rig.steps();
  rig.ended(0);
  rig.queue.submit("c");
  CHECK(rig.steps().empty());
  REQUIRE(rig.line(1, R"({"id":"b"})"));
  CHECK(rig.steps() == "send 1 c");
  CHECK_FALSE(rig.queue.due());
}

TEST_CASE("a worker that cannot be started fails one run and holds the next start back") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.queue.submit("b");
  const auto step = rig.queue.next(rig.now);
  REQUIRE(step);
  CHECK(rig.queue.on_start_failed(step->slot, rig.now, rig.random) == "a");
  CHECK(rig.steps().empty());
  CHECK(*rig.queue.due() == rig.now + Duration{1000});
}

TEST_CASE("a run that waits can be taken back, one that a worker has cannot") {
  Rig rig(1);
  rig.queue.submit("a");
  rig.queue.submit("b");
  rig.steps();
  CHECK(rig.queue.withdraw("b"));
  CHECK_FALSE(rig.queue.withdraw("b"));
  CHECK_FALSE(rig.queue.withdraw("a"));
  CHECK(rig.queue.slot_of("a") == std::optional<std::size_t>(0));
  rig.queue.on_stopped(0);
  // Its answer comes too late: it is being ended.
  CHECK_FALSE(rig.line(0, R"({"id":"a"})"));
  const auto ended = rig.ended(0);
  CHECK(ended.id == "a");
  CHECK(ended.broken.empty());
  CHECK_FALSE(ended.fault);
}

TEST_CASE("an answer says the exit code and hands on the documents as they are") {
  const auto answer =
      parse_worker_answer(R"( {"documents": [{"a":"]"}, 2], "exit": 75, "id": "x\"y"} )");
  REQUIRE(answer.ok());
  CHECK(answer->id == "x\"y");
  CHECK(answer->exit == 75);
  CHECK(answer->documents == R"([{"a":"]"}, 2])");
}

TEST_CASE("the line of an invocation has the variables in it, and no line break") {
  CHECK(worker_line("{\"id\":\"a\",\n\"object\":null}", {"A=x=\"y\"", "B="}) ==
        R"({"id":"a", "object":null,"env":{"A":"x=\"y\"","B":""}})");
}
