// What an engine is not idle for, though nothing is due in its queues: --once must not end then.
#include "hooks/scripted_engine.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::event;
using test::list;
using test::object;

namespace {

const char* const kPath = "/apis/demo.dev/v1/namespaces/shop/websites/a";
const char* const kHeld = R"(,"finalizers":["kubewatch.dev/web"])";

// The finalizer is on the object, as the answer to its patch says, and the watch is behind.
struct World : test::ScriptedEngine {
  explicit World(const std::string& for_more = "")
      : ScriptedEngine("  finalize: {exec: [./hook.sh, finalize], output: log}\n", for_more) {
    transport.answer(200, list(object(test::kSite, "Website", "4", "{}")));
    transport.route("PATCH", kPath, 200, object(test::kSite, "Website", "7", "{}", kHeld));
    start();
    watch("websites").head(200);
    REQUIRE(until([&] { return patched(); }));
    pass(Duration{10});
  }
  bool patched() {
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.call(i).request().method == "PATCH") return transport.call(i).ended();
    }
    return false;
  }
  void pass(Duration span) {
    loop.run_until([] { return false; }, span);
  }
  bool rests() {
    const auto status = engine->status();
    CHECK(status.idle == !status.at_work);
    return status.idle;
  }

  loop::SkippingTime time{loop};
};

}  // namespace

TEST_CASE("an object that waits for the event of its finalizer is work, however long that takes") {
  World world;
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(world.rests());
    world.time.skip(Duration{6000});
    world.pass(Duration{10});
  }
  CHECK(world.runs.empty());
  world.watch("websites").data(event(object(test::kSite, "Website", "7", "{}", kHeld)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.until([&] { return world.rests(); }));
  CHECK(world.seen() == "reconcile\n");
}

TEST_CASE("an object that is gone before the event of its finalizer is waited for no more") {
  World world;
  CHECK_FALSE(world.rests());
  world.watch("websites")
      .data(test::watch_line("DELETED", object(test::kSite, "Website", "9", "{}")));
  CHECK(world.until([&] { return world.rests(); }));
  CHECK(world.runs.empty());
}

TEST_CASE("an object whose filter fails once its finalizer is seen is a failure, and no work") {
  World world(", filter: 'if .spec.bad then error(\"bad\") else true end'");
  CHECK_FALSE(world.rests());
  world.watch("websites").data(event(object(test::kSite, "Website", "8", "{\"bad\":true}", kHeld)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "failed");
  world.pass(Duration{10});
  CHECK_FALSE(world.engine->status().at_work);
}
