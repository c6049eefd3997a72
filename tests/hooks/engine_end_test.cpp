// Ends of an engine: destroyed while one rule runs and another waits for its slot, and shut down
// while hooks run that do not leave at once.
#include <chrono>
#include <filesystem>

#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using test::list;
using test::object;

namespace {

hooks::EngineOptions short_shutdown() {
  hooks::EngineOptions out;
  out.shutdown_timeout = Duration{100};
  out.last_writes = Duration{200};
  return out;
}

// How long the shutdown of an engine takes whose hook has begun.
Duration shut_down(test::ScriptedEngine& world) {
  const auto begun = std::chrono::steady_clock::now();
  bool ended = false;
  world.engine->shut_down([&] { ended = true; });
  CHECK(world.until([&] { return ended; }));
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
}

// There are two workers, which ignore TERM. How long their end takes.
Duration end_of_two_workers(bool busy, Duration grace) {
  test::ScriptedEngine world(
      "  concurrency: 2\n", "",
      "{mode: worker, exec: [./hook.sh], grace: " + std::to_string(grace.count()) + "ms}");
  world.folder.write("hook.sh", R"(#!/bin/sh
trap '' TERM
while IFS= read -r line; do
  id=${line#*\"id\":\"}
  echo x >> begun
  while [ -e wait ]; do sleep 0.01; done
  printf '{"id":"%s"}\n' "${id%%\"*}"
done
)");
  std::string other = object(test::kSite, "Website", "4", "{}");
  for (const std::string name : {"\"a\"", "\"u-Website\""}) {
    other.replace(other.find(name), name.size(), "\"b\"");
  }
  world.transport.answer(200, list(object(test::kSite, "Website", "4", "{}") + "," + other));
  world.folder.write("wait", "");
  hooks::EngineOptions options = short_shutdown();
  if (busy) options.last_writes = Duration{20000};
  world.start(options);
  auto& watch = world.watch("websites");
  REQUIRE(world.until([&] { return world.read("begun") == "x\nx\n"; }));
  std::filesystem::remove(world.folder.file("wait"));
  REQUIRE(world.until([&] { return world.runs.size() == 2; }));
  CHECK(world.runs[1].outcome == "done");
  if (busy) {
    world.folder.write("wait", "");
    watch.head(200);
    watch.data(
        test::event(object(test::kSite, "Website", "6", "{}", R"(,"labels":{"tier":"web"})")));
    REQUIRE(world.until([&] { return world.read("begun") == "x\nx\nx\n"; }));
  }
  const Duration took = shut_down(world);
  CHECK(took >= grace);
  CHECK(world.engine->cut_off().empty());
  return took;
}

}  // namespace

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

TEST_CASE("what the server answers during a shutdown starts no hook") {
  test::ScriptedEngine world("  finalize: {exec: [./hook.sh, finalize], output: log}\n",
                             ", labelSelector: tier=web");
  // Outside the selection, so the server is asked before anything runs.
  const std::string dying =
      object(test::kSite, "Website", "7", "{}",
             R"(,"deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["kubewatch.dev/web"])");
  world.transport.answer(200, list(""));
  world.transport.answer(200, list(""));
  world.start();
  const auto guard = [&]() -> test::ScriptedCall* {
    for (std::size_t i = 0; i < world.transport.size(); ++i) {
      const std::string line = world.transport.call(i).line();
      if (line.find("watch=true") == std::string::npos) continue;
      if (line.find("labelSelector") == std::string::npos) return &world.transport.call(i);
    }
    return nullptr;
  };
  REQUIRE(world.until([&] { return guard() != nullptr; }));
  guard()->head(200);
  guard()->data(test::watch_line("ADDED", dying));
  const auto asked = [&] {
    auto& last = world.transport.last();
    return last.open() && last.line() == "GET /apis/demo.dev/v1/namespaces/shop/websites/a";
  };
  REQUIRE(world.until(asked));
  bool ended = false;
  world.engine->shut_down([&] { ended = true; });
  auto& answer = world.transport.last();
  answer.head(200);
  answer.data(dying);
  answer.end();
  CHECK(world.until([&] { return ended; }));
  CHECK(world.seen().empty());
  CHECK(world.engine->cut_off().empty());
}

TEST_CASE("a hook whose token comes during a shutdown is not started") {
  test::ScriptedEngine world(
      "", "", "{exec: [./hook.sh, run], output: log, credentials: {serviceAccount: robot}}");
  world.transport.answer(200, list(object(test::kSite, "Website", "4", "{}")));
  world.start();
  const auto asked = [&]() -> test::ScriptedCall* {
    for (std::size_t i = 0; i < world.transport.size(); ++i) {
      auto& call = world.transport.call(i);
      if (call.open() && call.path().ends_with("/serviceaccounts/robot/token")) return &call;
    }
    return nullptr;
  };
  REQUIRE(world.until([&] { return asked() != nullptr; }));
  bool ended = false;
  world.engine->shut_down([&] { ended = true; });
  auto& token = *asked();
  token.head(201);
  token.data(R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":)"
             R"({"name":"robot"},"status":{"token":"t","expirationTimestamp":)"
             R"("2100-01-01T00:00:00Z"}})");
  token.end();
  CHECK(world.until([&] { return ended; }));
  CHECK(world.seen().empty());
  REQUIRE(world.runs.size() == 1);
  CHECK(world.runs[0].message == "ended by shutdown before it started");
}

TEST_CASE("hooks that a shutdown ends have the grace of their rule, then they are killed") {
  const bool leaves = GENERATE(true, false);
  INFO("they leave by themselves " << leaves);
  const std::string on_term = leaves ? "sleep 0.6 || :; echo x > left; exit 0" : "";
  test::ScriptedEngine world("", "",
                             "{shell: \"trap '" + on_term +
                                 "' TERM; echo x > begun; while :; do sleep 0.05 || :; done\", "
                                 "output: log, grace: " +
                                 (leaves ? "1m" : "600ms") + "}");
  world.transport.answer(200, list(object(test::kSite, "Website", "4", "{}")));
  world.start(short_shutdown());
  REQUIRE(world.until([&] { return !world.read("begun").empty(); }));
  const Duration took = shut_down(world);
  CHECK(took >= Duration{600});
  CHECK(took < Duration{15000});
  CHECK(world.engine->cut_off().empty());
  REQUIRE(world.runs.size() == 1);
  CHECK(world.runs[0].message.find("ended by shutdown") != std::string::npos);
  CHECK(world.read("left") == (leaves ? "x\n" : ""));
}

TEST_CASE("workers without a run have the grace of their rule, too, beside one that runs") {
  const bool busy = GENERATE(false, true);
  INFO("one of them runs " << busy);
  // Not one after the other. A busy machine may take that long in spite of it: again with more.
  const auto together = [&](Duration grace) {
    return end_of_two_workers(busy, grace) < 2 * grace - Duration{100};
  };
  CHECK((together(Duration{1500}) || together(Duration{6000})));
}
