// Objects that are too deep for the cache: an engine on a scripted server, its hooks real.
#include "hooks/reduced.hpp"

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using World = test::ScriptedEngine;
using test::deep;
using test::event;
using test::kSite;
using test::list;
using test::object;

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
  REQUIRE(world.until([&] { return world.state() == "incomplete"; }));
  CHECK(world.explained().find("v1 ConfigMap shop/a") != std::string::npos);
  CHECK(world.explained().find("No hook is run on half an object") != std::string::npos);
  CHECK(world.seen().empty());
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
}

TEST_CASE("a map that finds nobody in half an object holds every run, and says why") {
  World world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: '{name: .spec.site}' }]\n"
      "  retry: {initial: 1ms, max: 1ms}\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.transport.answer(200, list(object("v1", "ConfigMap", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return world.state() == "incomplete"; }));
  CHECK(world.explained().find("rules.yaml:8: map of watches config fails on v1 ConfigMap shop/a: "
                               "of it only the metadata is kept") != std::string::npos);
  CHECK(world.seen().empty());
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", R"({"site":"a"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.read("input").find(R"("site":"a")") != std::string::npos);

  // Meant for it while it was whole.
  watch.data(event(object("v1", "ConfigMap", "7", deep())));
  REQUIRE(world.until([&] { return world.state() == "incomplete"; }));
  CHECK(world.runs.size() == 1);
}

TEST_CASE("half an object whose namespace comes to be selected holds the runs as well") {
  World world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, namespaceSelector: team=web, "
      "map: '{name: .spec.site}'}]\n");
  std::string kinds = test::kinds_of("", "configmaps", "ConfigMap");
  kinds.insert(kinds.find(R"({"resource":"configmaps")"),
               R"({"resource":"namespaces","responseKind":{"group":"","version":"v1",)"
               R"("kind":"Namespace"},"scope":"Cluster","singularResource":"x",)"
               R"("verbs":["get","list","watch"]},)");
  world.transport.route("GET", "/api", 200, kinds);
  const auto answer = [&](const std::string& plural, const std::string& items) {
    world.give_list(plural, items);
  };
  world.start();
  answer("websites", object(kSite, "Website", "4", "{}"));
  answer("namespaces", "");
  answer("configmaps", object("v1", "ConfigMap", "4", deep()));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
  auto& watch = world.watch("namespaces");
  watch.head(200);
  watch.data(
      R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop",)"
      R"("uid":"u-shop","resourceVersion":"6","labels":{"team":"web"}}}})"
      "\n");
  TriggerRequest request;
  request.all = true;
  world.engine->drivers().at(0)->trigger(request);
  CHECK(world.until([&] { return world.held.size() == 1; }));
  CHECK(world.runs.size() == 1);
}

TEST_CASE("whom a map finds in half an object may not be all, so every run waits") {
  const bool whole_passes = GENERATE(true, false);
  World world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
      "map: '{name: .metadata.name}', filter: '.spec.use == true'}]\n");
  std::string other = object(kSite, "Website", "4", "{}");
  other.replace(other.find(R"("name":"a")"), 10, R"("name":"b")");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}") + "," + other));
  world.transport.answer(200, list(object("v1", "ConfigMap", "4", deep())));
  world.start();
  REQUIRE(world.until([&] { return world.held.size() == 2; }));
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", whole_passes ? R"({"use":true})" : "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  for (const RunRecord& run : world.runs) CHECK(run.outcome == "done");
}

TEST_CASE("a child that a filter cannot judge by its half runs its owner, and when it is whole") {
  World world("  owns: [{apiVersion: v1, kind: ConfigMap, filter: '.spec.use == true'}]\n");
  const std::string labels =
      R"(,"labels":{"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u-Website"})";
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  world.give_list("configmaps", object("v1", "ConfigMap", "4", R"({"use":false})", labels));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
  auto& watch = world.watch("configmaps");
  watch.head(200);
  watch.data(event(object("v1", "ConfigMap", "6", deep(), labels)));
  REQUIRE(world.until([&] { return world.held.size() == 1; }));
  watch.data(event(object("v1", "ConfigMap", "7", R"({"use":false})", labels)));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
}

TEST_CASE("an object that the rule's filter cannot judge by its half is told, and its deletion") {
  World world("  onDelete: true\n", ", filter: .spec.use == true");
  world.transport.answer(200, list(""));
  world.start();
  auto& watch = world.watch("websites");
  watch.head(200);
  watch.data(event(object(kSite, "Website", "6", deep())));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "permanent");
  CHECK(world.state() == "reduced");
  TriggerRequest request;
  request.all = true;
  Driver& driver = *world.engine->drivers().at(0);
  CHECK(driver.trigger(request).size() == 1);
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  SECTION("whole, and meant by the filter: its half was no state before that") {
    watch.data(
        event(object(kSite, "Website", "7", R"({"use":true})", R"(,"labels":{"changed":"yes"})")));
    REQUIRE(world.until([&] { return world.runs.size() == 3; }));
    CHECK(world.runs[2].outcome == "done");
    CHECK(world.read("input").find("\"previous\":null") != std::string::npos);
  }
  SECTION("whole, and not meant by the filter") {
    watch.data(event(object(kSite, "Website", "7", "{}")));
    REQUIRE(world.until([&] { return world.state() == "filtered"; }));
    CHECK(world.until([&] { return world.engine->status().parked == 0; }));
  }
  SECTION("deleted: half an object is nobody's last state") {
    watch.data(test::watch_line("DELETED", object(kSite, "Website", "7", deep())));
    REQUIRE(world.until([&] { return world.runs.size() == 3; }));
    CHECK(world.runs[2].outcome == "done");
    INFO(world.read("input"));
    CHECK(world.read("input").find("\"previous\":null") != std::string::npos);
  }
}

TEST_CASE("which objects are reduced is known by their changes") {
  ReducedKeys keys;
  keys.add({"shop", "a"});
  runtime::StoreChange change;
  change.meta.name = "a";
  change.meta.namespace_ = "shop";
  CHECK(keys.note(change));
  CHECK_FALSE(keys.note(change));
  change.reduced = true;
  CHECK_FALSE(keys.note(change));
  CHECK(keys.note(change));
  change.type = runtime::ChangeType::deleted;
  change.reduced = GENERATE(true, false);  // what tells of its end may be smaller than it was
  CHECK(keys.note(change));
  change.type = runtime::ChangeType::added;
  change.reduced = false;
  CHECK_FALSE(keys.note(change));
}

TEST_CASE("a rule that asks for metadata alone needs no whole object") {
  Rule rule;
  core::ObjectMeta meta;
  CHECK(needs_whole_object(rule, meta));
  rule.for_.list.content = core::Content::metadata;
  CHECK_FALSE(needs_whole_object(rule, meta));
}
