// Objects that are too deep for the cache: an engine on a scripted server, its hooks real.
#include "hooks/reduced.hpp"

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using World = test::ScriptedEngine;
using test::event;
using test::kSite;
using test::list;
using test::object;

// 300 levels.
std::string deep() {
  return std::string(300, '[') + std::string(300, ']');
}

}  // namespace

TEST_CASE("no hook runs on half an object, it runs when the object is whole again") {
  World world("");
  world.transport.answer(200, list(object(kSite, "Website", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.runs[0].message.find("Website shop/a") != std::string::npos);
  CHECK(world.runs[0].message.find("only the metadata is kept") != std::string::npos);
  CHECK(world.seen().empty());
  CHECK(world.state() == "reduced");
  CHECK(world.engine->status().parked == 1);
  CHECK(world.until([&] { return world.told("No hook is run on half an object"); }));

  // What `changed` names has not changed, but the object is whole.
  auto& watch = world.watch("websites");
  watch.head(200);
  watch.data(event(object(kSite, "Website", "6", R"({"title":"x"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
  CHECK(world.seen() == "reconcile\n");
  CHECK(world.state() == "idle");
}

TEST_CASE("no cleanup runs on half an object, which keeps its finalizer") {
  World world("  finalize: {exec: [./hook.sh, finalize]}\n");
  const std::string dying =
      R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])";
  world.transport.answer(200, list(object(kSite, "Website", "4", deep(), dying)));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.state() == "reduced");
  auto& watch = world.watch("websites");
  watch.head(200);
  world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
  watch.data(event(object(kSite, "Website", "6", "{}", dying)));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
  CHECK(world.seen() == "finalize\n");
}

TEST_CASE("a related object that is not whole holds the runs that would see it") {
  World world("  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.transport.answer(200, list(object("v1", "ConfigMap", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.runs[0].message.find("v1 ConfigMap shop/a") != std::string::npos);
  CHECK(world.seen().empty());
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
}

TEST_CASE("a rule that asks for metadata alone needs no whole object") {
  Rule rule;
  core::ObjectMeta meta;
  CHECK(needs_whole_object(rule, meta));
  rule.for_.list.content = core::Content::metadata;
  CHECK_FALSE(needs_whole_object(rule, meta));
}
