// What the state over restarts knows of an object that carries the rule's finalizer.
#include "hooks/scripted_engine.hpp"
#include "hooks/state_store.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("the state knows where the rule put its finalizer before any run") {
  test::ScriptedEngine world("  finalize: {shell: 'true', output: log}\n");
  EngineOptions options;
  auto state = StateStore::open(world.folder.file("state"), {"boot", "server", ""});
  REQUIRE(state.ok());
  options.state = std::move(*state);
  world.start(options);
  world.give_list("websites", test::object(test::kSite, "Website", "4", "{}"));
  REQUIRE(world.until([&] {
    return world.transport.call(world.transport.size() - 1).line().starts_with("PATCH ");
  }));
  // Not answered: the server may have done it when this process is killed.
  CHECK(world.runs.empty());
  const HandledObject* known = options.state->find({"web", {"shop", "a"}});
  REQUIRE(known != nullptr);
  CHECK(known->uid == "u-Website");
  CHECK(known->hash.empty());  // it is to run in any case
}

TEST_CASE("a cleanup outside the selection that was given up is known to the next start") {
  const bool attempts_used_up = GENERATE(false, true);
  test::ScriptedEngine world(
      "  whenNoLongerMatched: finalize\n  finalize: {shell: 'exit 17', output: log}\n" +
          std::string(attempts_used_up ? "  retry: {maxAttempts: 1}\n"
                                       : "  retry: {exits: {17: permanent}}\n"),
      ", labelSelector: tier=web");
  const std::string site =
      test::object(test::kSite, "Website", "7", "{}", R"(,"finalizers":["kubewatch.dev/web"])");
  world.transport.answer(200, test::list(""));
  world.transport.answer(200, test::list(""));
  world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/a", 200, site);
  EngineOptions options;
  auto state = StateStore::open(world.folder.file("state"), {"boot", "server", ""});
  REQUIRE(state.ok());
  options.state = std::move(*state);
  world.start(options);
  test::ScriptedCall* guard = nullptr;
  REQUIRE(world.until([&] {
    for (std::size_t i = 0; i < world.transport.size(); ++i) {
      const std::string line = world.transport.call(i).line();
      const bool watches = line.find("watch=true") != std::string::npos;
      if (watches && line.find("labelSelector") == std::string::npos) {
        guard = &world.transport.call(i);
      }
    }
    return guard != nullptr && world.engine->drivers().at(0)->status().started;
  }));
  guard->head(200);
  guard->data(test::watch_line("ADDED", site));
  REQUIRE(world.until([&] { return world.runs.size() == 1; }));
  CHECK(world.runs[0].outcome == (attempts_used_up ? "failed" : "permanent"));
  const HandledObject* known = options.state->find({"web", {"shop", "a"}});
  REQUIRE(known != nullptr);
  CHECK(known->parked);
}
