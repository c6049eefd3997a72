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

TEST_CASE("an engine has ended once the Events of its last runs are written") {
  test::ScriptedEngine world(
      "", "",
      "{shell: 'touch begun; while [ ! -e go ]; do sleep 0.01; done; "
      "printf \"apiVersion: kubewatch.dev/v1\\nkind: Result\\nevents: [{type: "
      "Normal, reason: Made, note: it}]\\n\"'}");
  std::string site = object(test::kSite, "Website", "4", "{}");
  // Where nothing is scripted for them.
  site.replace(site.find("\"shop\""), 6, "\"blog\"");
  world.transport.answer(200, list(site));
  world.start();
  world.watch("websites");
  REQUIRE(world.until([&] { return base::read_file(world.folder.file("begun"), 1).ok(); }));
  bool ended = false;
  world.engine->shut_down([&] { ended = true; });
  world.folder.write("go", "");
  const auto posted = [&] {
    return world.transport.last().line() == "POST /apis/events.k8s.io/v1/namespaces/blog/events";
  };
  REQUIRE(world.until(posted));
  world.loop.run_until([] { return false; }, Duration{1});
  REQUIRE(world.runs.size() == 1);
  CHECK(world.runs[0].outcome == "done");
  CHECK_FALSE(ended);
  world.transport.last().head(201);
  world.transport.last().data("{}");
  world.transport.last().end();
  CHECK(world.until([&] { return ended; }));
}
