// Runs that wait until the watches show what the last run of their object wrote. An engine on a
// scripted server, its hooks real; time is skipped.
#include <algorithm>

#include "base/log.hpp"
#include "hooks/scripted_engine.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using test::event;
using test::watch_line;

namespace {

const std::string kPage = "/api/v1/namespaces/shop/configmaps/page";
const char* const kOwns =
    "  owns: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n  concurrency: 1\n";
const char* const kOurs =
    R"(,"labels":{"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u-a"})";

std::string site(const std::string& name, const std::string& version) {
  return R"({"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":"u-)" + name + R"(","resourceVersion":")" + version +
         R"(","labels":{"at":")" + version + R"("}},"spec":{}})";
}

std::string page(const std::string& version, const std::string& more = kOurs) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"page","namespace":"shop",)"
         R"("uid":"u-page","resourceVersion":")" +
         version + "\"" + more + R"(},"data":{"at":")" + version + R"("}})";
}

// Website shop/a, whose hook prints what the file `printed` says; the others' print nothing.
struct World : test::ScriptedEngine {
  explicit World(const std::string& spec = kOwns)
      : ScriptedEngine(spec, "", "{exec: [./hook.sh, reconcile]}") {
    folder.write("hook.sh",
                 "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$KW_NAME\" >> seen\ncat > input\n"
                 "[ \"$KW_NAME\" != a ] || cat printed\n");
    print("{apiVersion: v1, kind: ConfigMap, metadata: {name: page}}");
    transport.route("GET", kPage, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
    transport.route("PATCH", kPage, 201, page("7"));
  }
  void print(const std::string& text) const { folder.write("printed", text); }
  // Its first run has ended, and both watches are open.
  void begin(const std::string& maps = "") {
    start();
    give_list("configmaps", maps);
    give_list("websites", site("a", "4"));
    REQUIRE(until([&] { return runs.size() == 1; }));
    INFO(runs[0].message);
    REQUIRE(runs[0].outcome == "done");
    sites = &watch("websites");
    sites->head(200);
    children = &watch("configmaps");
    children->head(200);
  }
  // The object changes; its run would have started by now.
  void change(const std::string& version) {
    sites->data(event(site("a", version)));
    loop.run_until([] { return false; }, Duration{50});
  }
  bool ran(std::size_t count) {
    return until([&] { return runs.size() >= count; }) && runs.size() == count;
  }
  bool idle() {
    return until([&] { return engine->status().idle; });
  }

  loop::SkippingTime time{loop};
  test::ScriptedCall* sites = nullptr;
  test::ScriptedCall* children = nullptr;
};

}  // namespace

TEST_CASE("a run waits until the watch shows what the last run of its object wrote") {
  World world;
  world.begin();
  CHECK_FALSE(world.engine->status().idle);
  world.change("8");
  CHECK(world.seen() == "a\n");
  CHECK(world.state() == "behind");
  CHECK(world.explain().text.find("ConfigMap shop/page") != std::string::npos);
  CHECK_FALSE(world.engine->status().idle);
  CHECK(world.engine->status().at_work);
  // Not those of other objects, though one hook runs at a time.
  world.sites->data(watch_line("ADDED", site("b", "9")));
  REQUIRE(world.ran(2));
  CHECK(world.seen() == "a\nb\n");

  world.children->data(watch_line("ADDED", page("7")));
  REQUIRE(world.ran(3));
  CHECK(world.runs[2].reason == "Updated");
  CHECK(world.runs[2].attempt == 1);
  CHECK(world.read("input").find(R"("uid":"u-page")") != std::string::npos);
  CHECK(world.idle());
  CHECK(world.seen() == "a\nb\na\n");
  // With nothing to wait for it runs at once.
  world.change("10");
  CHECK(world.ran(4));
}

TEST_CASE("a run does not wait for a watch for more than five seconds, and says so once") {
  World world;
  std::vector<std::string> logged;
  base::capture_log(&logged);
  world.begin();
  world.change("8");
  CHECK(world.runs.size() == 1);
  world.time.skip(Duration{4000});
  world.change("9");
  CHECK(world.runs.size() == 1);
  world.time.skip(Duration{1000});
  CHECK(world.ran(2));
  // What that one wrote is another matter.
  CHECK(world.state() == "idle");
  world.change("10");
  CHECK(world.runs.size() == 2);
  world.time.skip(Duration{5000});
  CHECK(world.ran(3));
  base::capture_log(nullptr);
  const auto warnings = std::count_if(logged.begin(), logged.end(), [](const std::string& line) {
    return line.find("no watch has shown for 5s what the last run wrote") != std::string::npos;
  });
  CHECK(warnings == 1);
}

TEST_CASE("what a watch has passed is not waited for: later writes, deletions, bookmarks") {
  World world;
  world.begin();
  world.change("8");
  CHECK(world.runs.size() == 1);
  SECTION("another manager has written it since") {
    world.children->data(watch_line("ADDED", page("9")));
    CHECK(world.ran(2));
  }
  SECTION("somebody has deleted it, and the watch was not there when it came") {
    world.children->data(watch_line("DELETED", page("9")));
    world.time.skip(Duration{1000});
    CHECK(world.ran(2));
    CHECK(world.state() == "idle");
  }
  SECTION("the watch has come past it") {
    world.children->data(
        watch_line("BOOKMARK", R"({"kind":"ConfigMap","metadata":{"resourceVersion":"9"}})"));
    world.time.skip(Duration{1000});
    CHECK(world.ran(2));
  }
}

TEST_CASE("a run waits until the watch shows what the last one deleted") {
  World world;
  world.print(
      "{apiVersion: kubewatch.dev/v1, kind: Result, delete: [{apiVersion: v1, kind: "
      "ConfigMap, name: page}]}");
  world.transport.route("GET", kPage, 200, page("3"));
  world.transport.route("DELETE", kPage, 200, R"({"kind":"Status","status":"Success"})");
  world.begin(page("3"));
  CHECK_FALSE(world.engine->status().idle);
  world.print("");
  world.change("8");
  CHECK(world.runs.size() == 1);
  CHECK(world.state() == "behind");
  SECTION("it is gone") {
    world.children->data(watch_line("DELETED", page("9")));
    REQUIRE(world.ran(2));
    CHECK(world.read("input").find("u-page") == std::string::npos);
  }
  SECTION("a finalizer keeps it for now") {
    const std::string dying = std::string(kOurs) + R"(,"deletionTimestamp":"2026-01-02T03:04:05Z")";
    world.children->data(event(page("9", dying)));
    CHECK(world.ran(2));
  }
  SECTION("a change of before is not what it waits for") {
    world.children->data(event(page("6")));
    world.change("9");
    CHECK(world.runs.size() == 1);
  }
}

TEST_CASE("a run waits for what the last one has patched, where its watches show that") {
  const bool selected = GENERATE(true, false);
  World world(std::string("  writes: [{apiVersion: v1, kind: ConfigMap}]\n"
                          "  apply: {validate: none}\n  watches: [{name: config, apiVersion: v1, "
                          "kind: ConfigMap, map: all") +
              (selected ? "" : ", labelSelector: site") + "}]\n");
  world.print(
      "{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: "
      "ConfigMap, name: page, type: merge, patch: {data: {at: x}}}]}");
  world.transport.route("GET", kPage, 200, page("3", ""));
  world.transport.route("PATCH", kPage, 200, page("7", ""));
  world.begin(selected ? page("3", "") : "");
  world.print("");
  world.change("8");
  if (!selected) {
    CHECK(world.ran(2));
    CHECK(world.idle());
    return;
  }
  CHECK(world.runs.size() == 1);
  CHECK(world.state() == "behind");
  world.children->data(event(page("7", "")));
  REQUIRE(world.ran(2));
  CHECK(world.runs[1].reason == "Updated");
  CHECK(world.idle());
}

TEST_CASE("a run waits for what the last one has patched through a subresource") {
  World world;
  std::string kinds = test::kinds_of("", "configmaps", "ConfigMap");
  const std::string verbs = R"("verbs":["get","list","watch"])";
  kinds.insert(kinds.find(verbs),
               R"("subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling",)"
               R"("version":"v1","kind":"Scale"},"verbs":["get","patch"]}],)");
  world.transport.route("GET", "/api", 200, kinds);
  world.print(
      "{apiVersion: kubewatch.dev/v1, kind: Result, patches: [{apiVersion: v1, kind: ConfigMap, "
      "name: page, subresource: scale, type: merge, patch: {spec: {replicas: 3}}}]}");
  // It has no labels.
  std::string scale = page("7", "");
  scale.replace(scale.find("ConfigMap"), 9, "Scale");
  world.transport.route("PATCH", kPage + "/scale", 200, scale);
  world.begin(page("3"));
  world.print("");
  world.change("8");
  CHECK(world.runs.size() == 1);
  CHECK(world.state() == "behind");
  world.children->data(event(page("7")));
  CHECK(world.ran(2));
}

TEST_CASE("what a run wrote where no watch of its rule looks is not waited for") {
  World world("  writes: [{apiVersion: v1, kind: ConfigMap}]\n  apply: {validate: none}\n");
  world.start();
  world.give_list("websites", site("a", "4"));
  world.give_list("configmaps", "");  // prune has to ask
  REQUIRE(world.ran(1));
  CHECK(world.runs[0].outcome == "done");
  world.sites = &world.watch("websites");
  world.sites->head(200);
  CHECK(world.idle());
  world.transport.route("GET", kPage, 200, page("7"));
  world.change("8");
  CHECK(world.ran(2));
}
