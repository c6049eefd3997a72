// What requests without an answer say of the server, and what becomes of the watches then.
#include "hooks/server_silence.hpp"

#include <algorithm>
#include <memory>

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using End = ServerSilence::End;

namespace {

TimePoint at(std::int64_t seconds) {
  return TimePoint{} + Duration{seconds * 1000};
}

Duration took(std::int64_t seconds) {
  return Duration{seconds * 1000};
}

const Error kNoConnection(ErrorKind::unreachable, "no connection to cluster:6443 within 10s");

// An engine whose only watch is open, on time of its own.
struct SilentWorld {
  SilentWorld() {
    using namespace test;
    transport.route("GET", "/api", 200, kinds_of("", "configmaps", "ConfigMap"));
    transport.route("GET", "/apis", 200, kinds_of("demo.dev", "websites", "Website"));
    transport.route("GET", "/version", 200, R"({"major":"1","minor":"27"})");
    transport.answer(200, list(""));
    folder.script("hook.sh");
    auto loaded = load_rules({folder.write(
        "rules.yaml",
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
        "  for: {apiVersion: demo.dev/v1, kind: Website}\n  reconcile: {exec: [./hook.sh]}\n")});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    EngineOptions options;
    options.work_dir = folder.file("work");
    engine =
        std::make_unique<Engine>(loop, client, std::move(loaded.rules), options, EngineCallbacks{});
    engine->start();
    REQUIRE(loop.run_until([&] { return watches() == 1; }, Duration{20000}));
    transport.last().head(200);
    pass(20);
  }

  void pass(std::int64_t seconds) {
    loop.run_until([] { return false; }, took(seconds));
  }
  long watches() const {
    const auto lines = transport.lines();
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("GET /apis/demo.dev/v1/websites?") &&
             line.find("watch=true") != std::string::npos;
    });
  }
  // A request of ours that ends so after so long.
  void ask(std::int64_t seconds, const std::function<void(test::ScriptedCall&)>& end) {
    const auto pending = client.get(test::kPods, {"shop", "a"}, [](const Result<Json>&) {});
    test::ScriptedCall& call = transport.last();
    pass(seconds);
    end(call);
    pass(2);
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport{loop};
  client::Client client{loop, transport, test::scripted_config()};
  test::RuleFolder folder;
  std::unique_ptr<Engine> engine;
};

}  // namespace

TEST_CASE("no answer for eight seconds is proof that the server is away, an answer is none") {
  ServerSilence silence;
  CHECK(silence.ended(End::no_answer, took(10), at(100)) == at(90));
  // Once a minute, and then of what has failed since.
  CHECK_FALSE(silence.ended(End::no_answer, took(10), at(120)));
  CHECK_FALSE(silence.ended(End::no_answer, took(10), at(159)));
  CHECK(silence.ended(End::no_answer, took(10), at(160)) == at(110));
}

TEST_CASE("connections that are refused add up, from the first to the last") {
  ServerSilence silence;
  for (const int second : {100, 101, 103, 107}) {
    CHECK_FALSE(silence.ended(End::no_answer, took(0), at(second)));
  }
  SECTION("without an answer in between") {
    CHECK(silence.ended(End::no_answer, took(0), at(115)) == at(100));
  }
  SECTION("with one") {
    CHECK_FALSE(silence.ended(End::answered, took(0), at(110)));
    CHECK_FALSE(silence.ended(End::no_answer, took(0), at(115)));
    CHECK_FALSE(silence.ended(End::no_answer, took(0), at(122)));
    CHECK(silence.ended(End::no_answer, took(0), at(123)) == at(115));
  }
}

TEST_CASE("a request that takes too long says nothing where others are answered meanwhile") {
  ServerSilence silence;
  CHECK_FALSE(silence.ended(End::answered, took(0), at(75)));
  CHECK_FALSE(silence.ended(End::no_answer, took(30), at(100)));
  CHECK_FALSE(silence.ended(End::no_answer, took(0), at(101)));
  CHECK(silence.ended(End::no_answer, took(30), at(120)) == at(90));
}

TEST_CASE("a server that hangs is seen by the watches as soon as by the writes") {
  SilentWorld world;
  const auto hang = [](test::ScriptedCall& call) { call.fail(kNoConnection); };
  CHECK_FALSE(world.engine->facts().watches.at(0).failing_for);
  world.ask(10, hang);
  REQUIRE(world.watches() == 2);
  REQUIRE(world.transport.last().open());
  world.transport.last().fail(kNoConnection);
  CHECK(world.engine->facts().watches.at(0).failing_for);
  // However many fail: a watch that is tried again by itself is not opened by them.
  const long before = world.watches();
  for (int i = 0; i < 5; ++i) world.ask(0, hang);
  CHECK(world.watches() <= before + 1);
}

TEST_CASE("requests that fail in their own way leave the watches alone") {
  SilentWorld world;
  world.ask(10, [](test::ScriptedCall& call) { call.fail({ErrorKind::too_large, "too much"}); });
  world.ask(1, [](test::ScriptedCall& call) {
    call.head(503);
    call.end();
  });
  // It answered while this one was on its way.
  world.ask(1, [](test::ScriptedCall& call) { call.fail(kNoConnection); });
  CHECK(world.watches() == 1);
}
