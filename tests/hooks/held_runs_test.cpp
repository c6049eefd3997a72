// What goes on beside runs that wait for whole lists: hooks at work, objects that go, half objects,
// hand-overs, a history that is not theirs alone.
#include "hooks/lacking_world.hpp"
#include "hooks/run_history.hpp"

using namespace kubewatch;
using namespace kubewatch::test;
using World = LackingWorld;

namespace {

const char* const kAllMapped =
    "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n"
    "  retry: {initial: 1ms, max: 1ms}\n";
const char* const kWaitsForGo =
    "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1\" >> seen\ncat > input\n"
    "while [ ! -e go ]; do sleep 0.02; done\n";

// The token that a hook with a service account waits for.
void grant(ScriptedCall& token) {
  token.head(201);
  token.data(
      R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"t.t.t",)"
      R"("expirationTimestamp":"2036-01-01T00:00:00Z"}})");
  token.end();
}

}  // namespace

TEST_CASE("of a hook that is at work nobody says that it waits") {
  const bool of_deletion = GENERATE(false, true);
  World world(std::string(kMap) + "  onDelete: true\n", kA, object("v1", "ConfigMap", "4", kBad));
  world.folder.write("hook.sh", kWaitsForGo);
  world.begin();
  REQUIRE(world.holds(1));
  if (of_deletion) {
    world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
    REQUIRE(world.holds(2));
  }
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  REQUIRE(world.until([&] { return !world.seen().empty(); }));
  CHECK_FALSE(has(world.ask("queue").dump(), "\"why\""));
  CHECK_FALSE(has(world.ask("explain", kNameA).dump(), "no hook runs"));
  CHECK(world.driver().unreconciled().empty());
  CHECK(world.engine->status().failing == 0);
  world.folder.write("go", "");
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
}

TEST_CASE("a deletion waits for half an object as for one on which an expression fails") {
  World world(std::string(kAllMapped) + "  onDelete: true\n", kA,
              object("v1", "ConfigMap", "4", "{}"));
  world.begin();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  world.change("configmaps", event(object("v1", "ConfigMap", "6", deep())));
  REQUIRE(world.holds(1));
  world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
  REQUIRE(world.holds(2));
  CHECK(world.runs.size() == 1);
  world.change("configmaps", event(object("v1", "ConfigMap", "8", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
}

TEST_CASE("a cleanup outside the selection waits for half an object, and runs when it is whole") {
  const std::string left =
      object(kSite, "Website", "4", "{}", R"(,"finalizers":["kubewatch.dev/web"])");
  World world(std::string(kAllMapped) +
                  "  whenNoLongerMatched: finalize\n  finalize: {exec: [./hook.sh, finalize]}\n",
              left, object("v1", "ConfigMap", "4", deep()), ", labelSelector: tier=web");
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 200, left);
  world.transport.route("PATCH", "", 200, object(kSite, "Website", "7", "{}"));
  world.begin();
  world.watch("websites");  // of those with our finalizer
  world.give_list("websites", "");
  REQUIRE(world.holds(1));
  CHECK(world.seen().empty());
  world.change("configmaps", event(object("v1", "ConfigMap", "8", "{}")));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.seen() == "finalize\n");
}

TEST_CASE("a child that was half an object, and goes as a whole one, wakes its owner") {
  const std::string labels =
      R"(,"labels":{"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u-Website"})";
  World world("  owns: [{apiVersion: v1, kind: ConfigMap, filter: '.spec.use == true'}]\n", kA,
              object("v1", "ConfigMap", "4", deep(), labels));
  world.begin();
  REQUIRE(world.holds(1));
  world.change("configmaps", deleted(object("v1", "ConfigMap", "7", "{}", labels)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "done");
}

TEST_CASE("what waits after a hand-over is still what the old leader was to clean up") {
  World world(std::string(kMap) + "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]}\n",
              object(kSite, "Website", "4", "{}", kDying), object("v1", "ConfigMap", "4", kBad));
  hooks::EngineOptions options;
  options.shards.emplace();
  world.begin(std::move(options));
  REQUIRE(world.until([&] { return world.driver().status().started; }));
  world.engine->lead(0);
  REQUIRE(world.holds(1));
  world.change("websites", deleted(object(kSite, "Website", "8", "{}", kDying)));
  world.pass(Duration{100});
  world.change("configmaps", event(object("v1", "ConfigMap", "6", kGood)));
  world.pass(Duration{1000});
  CHECK(world.seen().empty());
}

TEST_CASE(
    "what goes while its run is prepared leaves nothing to wait for to the next of its name") {
  World world(kMap, kA, object("v1", "ConfigMap", "4", kBad), "",
              "{exec: [./hook.sh, reconcile], output: log, "
              "credentials: {serviceAccount: robot}}");
  world.begin();
  ScriptedCall& token = world.asked("token");
  world.change("websites", deleted(object(kSite, "Website", "7", "{}")));
  world.pass(Duration{50});
  grant(token);
  world.pass(Duration{200});
  CHECK(world.held.empty());
  CHECK(world.driver().unreconciled().empty());
  std::string again = object(kSite, "Website", "9", "{}");
  again.replace(again.find("u-Website"), 9, "u-Newsite");
  world.change("websites", watch_line("ADDED", again));
  REQUIRE(world.holds(1));
  CHECK(world.held[0].reason == "Created");
}

TEST_CASE("what goes before its cleanup could begin is told to onDelete") {
  const std::string credentials = ", credentials: {serviceAccount: robot}}";
  World world(std::string(kMap) + "  onDelete: true\n  finalize: {exec: [./hook.sh, finalize]" +
                  credentials + "\n",
              object(kSite, "Website", "4", "{}", kDying), object("v1", "ConfigMap", "4", kBad), "",
              "{exec: [./hook.sh, reconcile], output: log}");
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 404,
                        R"({"kind":"Status","code":404,"reason":"NotFound"})");
  world.begin();
  ScriptedCall& token = world.asked("token");
  world.change("websites", deleted(object(kSite, "Website", "7", "{}", kDying)));
  world.pass(Duration{50});
  grant(token);
  REQUIRE(world.holds(1));  // for the same list
  world.change("configmaps", event(object("v1", "ConfigMap", "8", kGood)));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.seen() == "reconcile\n");
}

TEST_CASE("runs that have only waited push no real one out of the history") {
  using namespace kubewatch::hooks;
  RunHistory history({3, 2, 100});
  RunRecord failed;
  failed.controller = "web";
  failed.key = {"shop", "x"};
  failed.outcome = "failed";
  history.add({}, failed);
  const auto wait = [&](const std::string& name) {
    RunRecord waited = failed;
    waited.key.name = name;
    waited.outcome = std::string(kIncomplete);
    history.add({}, waited);
  };
  for (int i = 0; i < 5; ++i) wait("x");
  CHECK(history.of_object("web", {"shop", "x"}).size() == 2);
  CHECK(history.of_controller("web").size() == 2);
  for (const char* name : {"a", "b", "c", "d"}) wait(name);
  const auto all = history.of_controller("web");
  REQUIRE(all.size() == 4);
  CHECK(all[0]->record.outcome == "failed");
  CHECK(all[3]->record.key.name == "d");
  REQUIRE(history.last("web", {"shop", "x"}) != nullptr);
  CHECK(history.last("web", {"shop", "x"})->record.outcome == "failed");
}
