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

const Error kNoConnection =
    Error(ErrorKind::unreachable, "no connection to cluster:6443 within 10s").as_disconnect();
const Error kNoName(ErrorKind::unreachable, "cannot resolve the host name of cluster:6443");

// An engine whose watches are open, on time of its own. `spec` is more of the rule.
struct SilentWorld {
  explicit SilentWorld(const std::string& spec = "",
                       const std::vector<std::string>& kinds = {"websites"}) {
    using namespace test;
    transport.route("GET", "/api", 200, kinds_of("", "configmaps", "ConfigMap"));
    transport.route("GET", "/apis", 200, kinds_of("demo.dev", "websites", "Website"));
    transport.route("GET", "/version", 200, R"({"major":"1","minor":"27"})");
    folder.script("hook.sh");
    auto loaded = load_rules({folder.write(
        "rules.yaml",
        "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: web}\nspec:\n"
        "  for: {apiVersion: demo.dev/v1, kind: Website}\n  reconcile: {exec: [./hook.sh]}\n" +
            spec)});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    EngineOptions options;
    options.work_dir = folder.file("work");
    engine =
        std::make_unique<Engine>(loop, client, std::move(loaded.rules), options, EngineCallbacks{});
    engine->start();
    for (const std::string& kind : kinds) {
      give_list(kind);
      open_watch(kind);
    }
    pass(20);
  }

  void pass(std::int64_t seconds) {
    loop.run_until([] { return false; }, took(seconds));
  }
  // The open list or watch of a kind, once there is one.
  test::ScriptedCall& call(const std::string& kind, bool watch) {
    test::ScriptedCall* found = nullptr;
    REQUIRE(loop.run_until(
        [&] {
          for (std::size_t i = 0; i < transport.size(); ++i) {
            test::ScriptedCall& one = transport.call(i);
            const bool watches = one.line().find("watch=true") != std::string::npos;
            if (one.open() && one.path().ends_with("/" + kind) && watches == watch) found = &one;
          }
          return found != nullptr;
        },
        took(10)));
    return *found;
  }
  void give_list(const std::string& kind) {
    test::ScriptedCall& list = call(kind, false);
    list.head(200);
    list.data(test::list(""));
    list.end();
  }
  void open_watch(const std::string& kind) { call(kind, true).head(200); }
  // At the server's version, before a watch.
  std::vector<std::string> looks() const {
    std::vector<std::string> out;
    for (std::string& line : transport.lines()) {
      if (line.ends_with("s?limit=1")) out.push_back(std::move(line));
    }
    return out;
  }
  // The kind that the server is looked at for.
  std::string looked_for() {
    const std::size_t before = looks().size();
    REQUIRE(loop.run_until([&] { return looks().size() > before; }, took(10)));
    return looks().back().find("websites") != std::string::npos ? "websites" : "configmaps";
  }
  // A request of ours that ends so after so long.
  void ask(std::int64_t seconds, const std::function<void(test::ScriptedCall&)>& end) {
    const auto pending = client.get(test::kPods, {"shop", "a"}, [](const Result<Json>&) {});
    test::ScriptedCall& asked = transport.last();
    pass(seconds);
    end(asked);
  }
  void refuse(std::int64_t seconds = 0) {
    ask(seconds, [](test::ScriptedCall& asked) { asked.fail(kNoConnection); });
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

TEST_CASE("failures that are more than a minute apart are not one silence") {
  ServerSilence silence;
  CHECK_FALSE(silence.ended(End::no_answer, took(0), at(100)));
  CHECK_FALSE(silence.ended(End::no_answer, took(0), at(3700)));
  CHECK(silence.ended(End::no_answer, took(10), at(3715)) == at(3700));
  CHECK(silence.ended(End::no_answer, took(10), at(9000)) == at(8990));
}

TEST_CASE("a server that hangs is seen by the watches as soon as by the writes") {
  SilentWorld world;
  CHECK_FALSE(world.engine->facts().watches.at(0).failing_for);
  world.refuse(10);
  world.call("websites", false).fail(kNoConnection);
  CHECK(world.looks().size() == 1);
  CHECK(world.engine->facts().watches.at(0).failing_for);
  // However many fail: a watch that is tried again by itself is not opened by them.
  for (int i = 0; i < 10; ++i) world.refuse(10);
  CHECK(world.looks().size() == 2);
}

TEST_CASE("a server that is there is looked at by one watch a minute, whatever hangs") {
  SilentWorld world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n", {"websites", "configmaps"});
  for (std::size_t minute = 1; minute <= 3; ++minute) {
    world.refuse(10);
    const std::string kind = world.looked_for();
    world.give_list(kind);
    world.open_watch(kind);
    world.pass(50);
    CHECK(world.looks().size() == minute);
  }
}

TEST_CASE("of several watches all fail where the server is away") {
  SilentWorld world("  owns: [{apiVersion: v1, kind: ConfigMap}]\n", {"websites", "configmaps"});
  world.refuse(10);
  for (const char* kind : {"websites", "configmaps"}) world.call(kind, false);
  CHECK(world.looks().size() == 2);
}

TEST_CASE("requests that fail in their own way leave the watches alone") {
  SilentWorld world;
  world.ask(10, [](test::ScriptedCall& call) { call.fail({ErrorKind::too_large, "too much"}); });
  // Whose address is not known may have streams that are well.
  for (int i = 0; i < 3; ++i) {
    world.ask(10, [](test::ScriptedCall& call) { call.fail(kNoName); });
  }
  world.ask(1, [](test::ScriptedCall& call) {
    call.head(503);
    call.end();
  });
  world.refuse(1);
  world.pass(10);
  CHECK(world.looks().empty());
}

TEST_CASE("an event of a watch ends the silence, a write that was given up does not") {
  SilentWorld world;
  world.refuse();
  world.pass(5);
  const bool answers = GENERATE(true, false);
  if (answers) {
    world.call("websites", true)
        .data(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}})"
              "\n");
  } else {
    // As the gateway tells of what its hook did not wait for.
    world.client.observers().tell(
        nullptr, {"patch", "PATCH", "https://cluster:6443/x", 0, nullptr, Duration{1000}});
  }
  world.pass(5);
  world.refuse();
  world.pass(10);
  CHECK(world.looks().size() == (answers ? 0 : 1));
}
