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
  auto& listed = world.asked("websites");
  listed.head(200);
  listed.data(test::list(test::object(test::kSite, "Website", "4", "{}")));
  listed.end();
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
