// A server whose data went back: nothing runs on caches of which some are of the past that was
// undone. An engine on a scripted server, its hooks real.
#include "hooks/health.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using test::kSite;
using test::list;
using test::object;

class World : public test::ScriptedEngine {
 public:
  World() : ScriptedEngine("  owns: [{apiVersion: v1, kind: ConfigMap}]\n") {}

  // The `count`th list of that kind is asked for; it is answered.
  void listed(const std::string& plural, int count, const std::string& answer) {
    REQUIRE(until([&] { return lists(plural) == count; }));
    auto& call = asked(plural);
    call.head(200);
    call.data(answer);
    call.end();
  }
  int lists(const std::string& plural) {
    int found = 0;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      const bool watches = transport.call(i).line().find("watch=true") != std::string::npos;
      if (transport.call(i).path().ends_with("/" + plural) && !watches) ++found;
    }
    return found;
  }
  // Nothing more comes by itself.
  void turn() {
    loop.run_until([] { return false; }, Duration{50});
  }
};

std::string child(const std::string& version) {
  return object("v1", "ConfigMap", version, "{}",
                R"(,"labels":{"kubewatch.dev/controller":"web",)"
                R"("kubewatch.dev/owner-uid":"u-Website"})");
}

const char* const kBack =
    R"({"type":"BOOKMARK","object":{"kind":"Website","metadata":{"resourceVersion":"3"}}})"
    "\n";

}  // namespace

TEST_CASE("a kind that is not to be read after a restore is told as one, and not waited for") {
  World world;
  world.start();
  world.listed("configmaps", 1, list(child("3")));
  world.listed("websites", 1, list(object(kSite, "Website", "4", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  auto& watch = world.watch("websites");
  watch.head(200);
  watch.data(kBack);
  REQUIRE(world.until([&] { return world.lists("configmaps") == 2; }));
  CHECK(world.engine->status().waiting_rules == 0);
  auto& refused = world.asked("configmaps");
  refused.head(403);
  refused.data(R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no configmaps"})");
  refused.end();
  world.listed("websites", 2, list(object(kSite, "Website", "4", "{}")));
  REQUIRE(world.until([&] { return world.engine->status().waiting_rules == 1; }));
  CHECK(world.engine->status().idle);  // what --once and --until-idle go by
  CHECK(world.state() == "forbidden");
  CHECK(world.explain().text.find("no configmaps") != std::string::npos);
}

TEST_CASE("after the server's data went back nothing runs until everything is listed anew") {
  World world;
  world.start();
  world.listed("configmaps", 1, list(child("3")));
  world.listed("websites", 1, list(object(kSite, "Website", "4", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  auto& watch = world.watch("websites");
  world.watch("configmaps").head(200);
  watch.head(200);
  CHECK(world.engine->status().idle);

  watch.data(kBack);
  REQUIRE(world.until([&] { return world.lists("configmaps") == 2; }));
  CHECK(world.state() == "syncing");
  CHECK(world.explain().text.find("went back") != std::string::npos);
  CHECK_FALSE(world.engine->status().idle);
  CHECK_FALSE(judge_readiness(world.engine->facts(), {}).ok());
  // The child is gone: its owner, which may be gone as well, is not asked about it yet.
  world.listed("configmaps", 2, list(""));
  world.turn();
  CHECK(world.runs.size() == 1);

  SECTION("the owner is there") {
    world.listed("websites", 2, list(object(kSite, "Website", "4", "{}")));
    REQUIRE(world.until([&] { return world.runs.size() == 2; }));
    CHECK(world.runs[1].reason == "OwnedChanged");
    CHECK(world.state() == "idle");
    CHECK(judge_readiness(world.engine->facts(), {}).ok());
  }
  SECTION("the owner is gone: no hook is run for it") {
    world.listed("websites", 2, list(""));
    world.turn();
    CHECK(world.runs.size() == 1);
    CHECK(world.seen() == "reconcile\n");
    CHECK(world.engine->status().idle);
  }
}
