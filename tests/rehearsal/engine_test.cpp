// An engine over a server in this process: rules that are read again, and ends in the wrong moment.
#include "hooks/engine.hpp"

#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "hooks/driver.hpp"
#include "hooks/health.hpp"
#include "hooks/rule_file.hpp"
#include "rehearsal/local_server.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

std::vector<hooks::Rule> rules(const std::string& spec) {
  auto loaded = hooks::parse_rules(
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: site}\nspec:\n" + spec,
      "/tmp/rules.yaml");
  for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
  return std::move(loaded.rules);
}

struct Rig {
  explicit Rig(const std::string& spec) {
    config.server = rehearsal::LocalServer::kUrl;
    client.emplace(loop, server, config);
    engine.emplace(loop, *client, rules(spec), hooks::EngineOptions{}, hooks::EngineCallbacks{});
    engine->start();
  }
  bool until(const std::function<bool()>& done, Duration within = Duration{20000}) {
    return loop.run_until(done, within);
  }
  std::size_t started() {
    const auto facts = engine->facts();
    return static_cast<std::size_t>(
        std::count_if(facts.controllers.begin(), facts.controllers.end(),
                      [](const auto& controller) { return controller.started; }));
  }
  // Whatever was posted has run.
  void turn() {
    bool turned = false;
    loop.post([&] { loop.post([&] { loop.post([&] { turned = true; }); }); });
    REQUIRE(until([&] { return turned; }));
  }

  loop::EventLoop loop;
  rehearsal::LocalServer server{loop};
  client::ClientConfig config;
  std::optional<client::Client> client;
  std::optional<hooks::Engine> engine;
};

const char* const kConfigMaps =
    "  for: {apiVersion: v1, kind: ConfigMap}\n  reconcile: {shell: 'true', timeout: 30s}\n";

}  // namespace

TEST_CASE("what liveness goes by follows rules that are read again") {
  Rig rig(kConfigMaps);
  REQUIRE(rig.until([&] { return rig.started() == 1; }));
  auto facts = rig.engine->facts();
  CHECK(facts.longest_run == Duration{35'000});
  facts.controllers[0].oldest = Duration{1'000'000};
  CHECK_FALSE(hooks::judge_liveness(facts, Duration{0}, {}).ok());

  REQUIRE(rig.engine
              ->reload(rules("  for: {apiVersion: v1, kind: ConfigMap}\n"
                             "  reconcile: {shell: 'true', timeout: 30s}\n"
                             "  finalize: {shell: 'true', timeout: 20m, grace: 1m}\n"))
              .ok());
  REQUIRE(rig.until([&] { return rig.engine->facts().longest_run == Duration{1'260'000}; }));
  REQUIRE(rig.until([&] { return rig.started() == 1; }));
  facts = rig.engine->facts();
  facts.controllers[0].oldest = Duration{1'000'000};
  CHECK(hooks::judge_liveness(facts, Duration{0}, {}).ok());

  REQUIRE(rig.engine->reload(rules(kConfigMaps)).ok());
  CHECK(rig.until([&] { return rig.engine->facts().longest_run == Duration{35'000}; }));
}

TEST_CASE("a changed rule for every kind of a group is followed at once, not at the next look") {
  const std::string group =
      "  for: {group: apps, kinds: '*', namespaces: [shop]}\n  reconcile: {shell: ";
  Rig rig(group + "'true'}\n");
  REQUIRE(rig.until([&] { return rig.started() >= 5; }));
  const std::size_t kinds = rig.started();
  const auto names = [&] {
    std::vector<std::string> out;
    for (const hooks::Driver* driver : rig.engine->drivers()) {
      if (driver->rule().reconcile.argv.back() == "hook" &&
          driver->rule().reconcile.argv[3].find("changed") != std::string::npos) {
        out.push_back(driver->rule().name);
      }
    }
    return out;
  };
  CHECK(names().empty());
  REQUIRE(rig.engine->reload(rules(group + "'true # changed'}\n")).ok());
  // The look that comes in any case is once a minute.
  CHECK(rig.until([&] { return names().size() == kinds && rig.started() == kinds; }));
  const auto all = names();
  CHECK(std::count(all.begin(), all.end(), "site-deployment") == 1);
}

TEST_CASE("an engine that is destroyed while it ends calls nobody afterwards") {
  // Without a rule the end of abandon() is on its way at once; with one, that of its driver.
  for (const bool with_rule : {false, true}) {
    for (const bool abandoned : {false, true}) {
      if (!with_rule && !abandoned) continue;
      INFO("rule " << with_rule << ", abandoned " << abandoned);
      Rig rig(kConfigMaps);
      if (with_rule) {
        REQUIRE(rig.until([&] { return rig.started() == 1; }));
      } else {
        rig.engine.emplace(rig.loop, *rig.client, std::vector<hooks::Rule>(),
                           hooks::EngineOptions{}, hooks::EngineCallbacks{});
        rig.engine->start();
      }
      int called = 0;
      if (abandoned) {
        rig.engine->abandon(Duration{10'000}, [&] { ++called; });
      } else {
        rig.engine->shut_down([&] { ++called; });
      }
      CHECK(called == 0);
      rig.engine.reset();
      rig.turn();
      CHECK(called == 0);
    }
  }
}

TEST_CASE("a shutdown in the turn in which the controller of a changed rule ends does not hang") {
  const bool abandoned = GENERATE(false, true);
  INFO("abandoned " << abandoned);
  Rig rig(kConfigMaps);
  REQUIRE(rig.until([&] { return rig.started() == 1; }));
  REQUIRE(rig.engine
              ->reload(rules("  for: {apiVersion: v1, kind: ConfigMap}\n"
                             "  reconcile: {shell: 'true # changed'}\n"))
              .ok());
  int called = 0;
  const auto ended = [&] { ++called; };
  abandoned ? rig.engine->abandon(Duration{20'000}, ended) : rig.engine->shut_down(ended);
  CHECK(rig.until([&] { return called == 1; }, Duration{5000}));
  rig.turn();
  CHECK(called == 1);
}

TEST_CASE("a shutdown in the turn in which a shard is given up does not hang") {
  Rig rig(kConfigMaps);
  hooks::EngineOptions options;
  auto plan = hooks::parse_shard_plan("namespace=shop;blog", {});
  REQUIRE(plan.ok());
  options.shards = *plan;
  rig.engine.emplace(rig.loop, *rig.client, rules(kConfigMaps), options, hooks::EngineCallbacks{});
  rig.engine->start();
  rig.engine->lead(0);
  REQUIRE(rig.until([&] { return rig.started() == 1; }));
  int called = 0;
  rig.engine->end_runs(0, [] {});
  rig.engine->shut_down([&] { ++called; });
  CHECK(rig.until([&] { return called == 1; }, Duration{5000}));
}

TEST_CASE("hooks that ignore TERM die in the time that a lost lead leaves them") {
  for (const Duration within : {Duration{0}, Duration{2000}}) {
    INFO("within " << within.count() << "ms");
    std::string folder = "/tmp/kubewatch-engine-XXXXXX";
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    {
      const std::string stays =
          "; trap ': > termed' TERM; echo $$ > new; mv new pid; while :; do sleep 0.1 || :; done\n";
      Rig rig(std::string("  for: {apiVersion: v1, kind: ConfigMap, namespaces: [default]}\n") +
              "  reconcile:\n    timeout: 20m\n    grace: 10m\n    shell: |\n      cd " + folder +
              stays);
      const Json object = {{"apiVersion", "v1"},
                           {"kind", "ConfigMap"},
                           {"metadata", {{"name", "one"}, {"namespace", "default"}}}};
      REQUIRE(rig.server.ask("POST", "/api/v1/namespaces/default/configmaps", "", object).ok());
      std::string written;
      REQUIRE(rig.until([&] {
        const auto read = base::read_file(folder + "/pid", 100);
        if (read.ok()) written = *read;
        return !written.empty();
      }));
      const auto pid = static_cast<pid_t>(std::stol(written));
      const auto lives = [pid] { return ::kill(pid, 0) == 0; };
      REQUIRE(lives());
      bool ended = false;
      rig.engine->abandon(within, [&] { ended = true; });
      CHECK_FALSE(ended);
      CHECK(lives() == (within > Duration{0}));
      CHECK(rig.until([&] { return ended; }));
      CHECK_FALSE(lives());
      CHECK(std::filesystem::exists(folder + "/termed") == (within > Duration{0}));
    }
    std::filesystem::remove_all(folder);
  }
}
