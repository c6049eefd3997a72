// What is said of a rule that was changed while the hooks of the one before it still run.
#include "hooks/health.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;
using test::object;

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
