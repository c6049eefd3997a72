// What an engine asks the server for, what of the answers must be there before a hook runs, and
// what comes of a refusal.
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::kSite;
using test::list;
using test::object;
using test::ScriptedEngine;

namespace {

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("selectors of a rule go to the server, in lists and in watches") {
  ScriptedEngine world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, labelSelector: site, map: "
      "all}]\n",
      ", labelSelector: tier=web, fieldSelector: metadata.namespace=shop");
  world.transport.answer(200, list(""));
  world.transport.answer(200, list(""));
  world.start();
  for (const std::string& line : {world.asked("websites").line(), world.watch("websites").line()}) {
    CHECK(has(line, "labelSelector=tier%3Dweb"));
    CHECK(has(line, "fieldSelector=metadata.namespace%3Dshop"));
  }
  CHECK(has(world.asked("configmaps").line(), "labelSelector=site"));
  CHECK(has(world.watch("configmaps").line(), "labelSelector=site"));
}

TEST_CASE("no hook runs before the last list of its rule is complete, and then with all of it") {
  ScriptedEngine world("  watches: [{name: config, apiVersion: v1, kind: ConfigMap, map: all}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& late = world.asked("configmaps");
  world.watch("websites");  // these are complete
  CHECK_FALSE(world.engine->drivers().at(0)->status().started);
  // Half a list is none.
  const std::string first = list(object("v1", "ConfigMap", "4", "{}"));
  late.head(200);
  late.data(first.substr(0, first.size() / 2));
  CHECK_FALSE(world.engine->drivers().at(0)->status().started);
  late.data(first.substr(first.size() / 2));
  late.end();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));
}

TEST_CASE("a write that is throttled is tried again when the server says, whatever the backoff") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n", "",
      "{shell: 'echo \"{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}\"'}");
  const std::string page = "/api/v1/namespaces/shop/configmaps/page";
  world.transport.route("GET", page, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  http::Headers later;
  later.add("Retry-After", "3600");
  world.transport.route("PATCH", page, 429, R"({"kind":"Status","code":429})", later);
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& children = world.asked("configmaps");
  children.head(200);
  children.data(list(""));
  children.end();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "write-failed");
  const auto entry = world.engine->drivers().at(0)->queue().look({"shop", "a"});
  REQUIRE(entry);
  CHECK(entry->pending);
  CHECK(entry->due - world.loop.now() > Duration{3500000});
}

TEST_CASE("what the filter holds is not among what a request runs, unless a person names it") {
  using runtime::Reason;
  ScriptedEngine world("", ", filter: .spec.paused != true");
  world.transport.answer(200, list(object(kSite, "Website", "4", R"({"paused":true})")));
  world.start();
  world.watch("websites");
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  hooks::TriggerRequest all;
  all.all = true;
  hooks::TriggerRequest named;
  named.key = {"shop", "a"};
  CHECK(world.engine->trigger("", all, Reason::manual) == 0);
  CHECK(world.engine->trigger("", named, Reason::external) == 0);
  CHECK(world.engine->trigger("", named, Reason::manual) == 0);  // as retry --parked does
  named.by_person = true;
  CHECK(world.engine->trigger("", named, Reason::manual) == 1);
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  CHECK(world.runs[0].outcome == "done");
  CHECK(world.runs[0].reason == "Manual");
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  named.by_person = false;
  CHECK(world.engine->trigger("", named, Reason::external) == 0);
  CHECK(world.runs.size() == 1);
}

TEST_CASE(
    "a map that fails on a related object leaves every list of it incomplete until it heals") {
  ScriptedEngine world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
      "map: '{name: (.spec.site | fromjson)}'}]\n");
  const std::string good = R"({"site":"\"a\""})";
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& configs = world.asked("configmaps");
  configs.head(200);
  configs.data(list(object("v1", "ConfigMap", "4", R"({"site":"no JSON"})")));
  configs.end();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(has(world.read("input"), R"("complete":false)"));
  CHECK(has(world.explained(), "map of watches config failed on shop/a"));

  auto& changes = world.watch("configmaps");
  changes.head(200);
  changes.data(test::event(object("v1", "ConfigMap", "6", good)));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK_FALSE(has(world.read("input"), R"("complete":false)"));
  CHECK(has(world.read("input"), R"("kind":"ConfigMap","metadata":{"name":"a")"));

  // What it pointed at last stands.
  changes.data(test::event(object("v1", "ConfigMap", "7", R"({"site":"no JSON"})")));
  REQUIRE(world.until([&] { return world.runs.size() == 3; }));
  CHECK(has(world.read("input"), R"("complete":false)"));
  CHECK(has(world.read("input"), R"("resourceVersion":"7"},"spec":{"site":"no JSON")"));
}

TEST_CASE("an object on which refs fails is not run, and says so") {
  ScriptedEngine world(
      "  watches: [{name: config, apiVersion: v1, kind: ConfigMap, "
      "refs: '.spec.refs | split(\",\")[] | {name: .}'}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", R"({"refs":7})")));
  world.transport.answer(200, list(""));
  world.start();
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == "failed");
  CHECK(has(world.runs[0].message, "refs of watches config failed on shop/a"));
  CHECK(world.read("input").empty());
  CHECK(has(world.explained(), "refs of watches config failed on shop/a"));
}

TEST_CASE("a child that several entries of owns cover is told once") {
  ScriptedEngine world(
      "  owns: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: ConfigMap, "
      "namespaces: [blog]}]\n");
  world.transport.answer(200, list(object(kSite, "Website", "4", "{}")));
  world.start();
  auto& children = world.asked("configmaps");
  children.head(200);
  children.data(list(object("v1", "ConfigMap", "4", "{}",
                            R"(,"labels":{"kubewatch.dev/controller":"web",)"
                            R"("kubewatch.dev/owner-uid":"u-Website"})")));
  children.end();
  REQUIRE(world.until([&] { return !world.runs.empty(); }));
  const std::string input = world.read("input");
  const std::size_t first = input.find(R"("uid":"u-ConfigMap")");
  REQUIRE(first != std::string::npos);
  CHECK(input.find(R"("uid":"u-ConfigMap")", first + 1) == std::string::npos);
}
