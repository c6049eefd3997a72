// What is said and done of a rule that was changed while the hooks of the one before it still run.
#include "base/log.hpp"
#include "hooks/health.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;
using test::object;

namespace {

bool lets_go(test::ScriptedEngine& world) {
  for (std::size_t i = 0; i < world.transport.size(); ++i) {
    const auto& request = world.transport.request(i);
    if (request.method == "PATCH" && request.body.find("remove") != std::string::npos) return true;
  }
  return false;
}

// Its object has our finalizer, and its hook runs until there is a file `go`. It says one thing of
// its finalizer, then another; and is removed, both while the hook runs.
struct RemovedWhileItRuns : test::ScriptedEngine {
  RemovedWhileItRuns(hooks::WhenRemoved first, hooks::WhenRemoved last)
      : ScriptedEngine("  finalize: {exec: [./hook.sh, finalize]}\n", "",
                       "{shell: 'touch begun; while [ ! -e go ]; do sleep 0.05; done', output: "
                       "log}") {
    const std::string site =
        object(test::kSite, "Website", "4", "{}", R"(,"finalizers":["kubewatch.dev/web"])");
    transport.answer(200, list(site));
    transport.route("PATCH", "", 200, object(test::kSite, "Website", "7", "{}"));
    rules[0].when_removed = first;
    auto changed = rules;
    changed[0].fingerprint += 1;
    changed[0].when_removed = last;
    start();
    watch("websites");
    REQUIRE(until([&] { return engine->status().hooks == 1; }));
    REQUIRE(engine->reload(changed).ok());
    REQUIRE(engine->reload({}).ok());
    transport.answer(200, list(site));
    folder.write("go", "");
  }
};

}  // namespace

TEST_CASE("a changed rule that waits for the hooks of the one before it is not ready") {
  test::ScriptedEngine world(
      "", "", "{shell: 'touch begun; while [ ! -e go ]; do sleep 0.05; done', output: log}");
  world.transport.answer(200, list(object(test::kSite, "Website", "4", "{}")));
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  world.start();
  REQUIRE(world.until([&] { return world.engine->status().hooks == 1; }));
  CHECK(hooks::judge_readiness(world.engine->facts(), {}).ok());
  REQUIRE(world.engine->reload(changed).ok());
  const auto waits = hooks::judge_readiness(world.engine->facts(), {});
  REQUIRE_FALSE(waits.ok());
  CHECK(waits.text().find("controller web has not started: it waits for the last runs") !=
        std::string::npos);
  world.folder.write("go", "");
}

TEST_CASE("a changed rule says where it leaves children that it may have") {
  test::ScriptedEngine world("  writes: [{apiVersion: v1, kind: ConfigMap, namespaces: [blog]}]\n");
  world.transport.answer(200, list(""));
  auto changed = world.rules;
  changed[0].fingerprint += 1;
  changed[0].writes[0].namespaces.clear();
  world.start();
  world.watch("websites");
  std::vector<std::string> lines;
  base::capture_log(&lines);
  const bool taken = world.engine->reload(changed).ok();
  base::capture_log(nullptr);
  REQUIRE(taken);
  const std::string log = base::join(lines, "\n");
  INFO(log);
  CHECK(log.find("ConfigMap in blog") != std::string::npos);
  CHECK(log.find("kubewatch.dev/controller=web") != std::string::npos);
}

TEST_CASE("the finalizer of a rule that is removed while its former self still ends is let go") {
  RemovedWhileItRuns world(hooks::WhenRemoved::release, hooks::WhenRemoved::release);
  CHECK(world.until([&] { return lets_go(world); }));
  CHECK(world.seen().empty());
}

TEST_CASE(
    "what a removed rule said last of its finalizer counts, while its former self still ends") {
  using hooks::WhenRemoved;
  const auto first = GENERATE(WhenRemoved::release, WhenRemoved::keep);
  const auto last = first == WhenRemoved::keep ? WhenRemoved::release : WhenRemoved::keep;
  CAPTURE(first == WhenRemoved::keep);
  RemovedWhileItRuns world(first, last);
  REQUIRE(world.until([&] { return world.engine->status().idle; }));
  CHECK(lets_go(world) == (last == WhenRemoved::release));
  // Nothing is left to run, and nothing is wrong with that.
  CHECK(hooks::judge_readiness(world.engine->facts(), {}).ok());
}
