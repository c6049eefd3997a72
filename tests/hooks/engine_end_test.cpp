// An engine that is destroyed while a hook of one rule runs and another rule waits for its slot.
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;
using test::object;

TEST_CASE("an engine that ends is not looked at by those who follow it, nor starts what waited") {
  test::ScriptedEngine world("", "", "{shell: 'echo x >> begun; sleep 60', output: log}");
  hooks::Rule other = world.rules[0];
  other.name = other.document = "other";
  world.rules.push_back(std::move(other));
  world.transport.answer(200, list(object(test::kSite, "Website", "4", "{}")));
  hooks::EngineOptions options;
  options.concurrency = 1;
  world.start(options);
  REQUIRE(world.until([&] { return !world.read("begun").empty(); }));
  hooks::Engine* engine = world.engine.get();
  engine->on_progress([engine] { (void)engine->status(); });
  world.engine.reset();
  world.loop.run_until([] { return false; }, Duration{1});
  CHECK(world.read("begun") == "x\n");
}
