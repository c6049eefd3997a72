// What of a hook is left behind when it has ended: its home, and what is remembered of it.
#include "hooks/hook_runner.hpp"

#include <filesystem>
#include <optional>

#include "client/rig.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/worker_line.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct Rig : test::Rig {
  explicit Rig(const std::string& script) {
    rule.name = "website";
    rule.reconcile.mode = HookMode::worker;
    rule.reconcile.argv = {"/bin/sh", "-c", script};
    rule.reconcile.directory = folder.path();
    rule.reconcile.grace = Duration{200};
    HookPlaces places;
    places.work_dir = folder.file("work");
    places.homes = {folder.path()};
    runner.emplace(client, random, rule, std::move(places));
  }
  void run() {
    HookStart start;
    start.id = "one";
    start.input = worker_line(R"({"id":"one"})", {});
    bool ended = false;
    auto call = runner->start(rule.reconcile, std::move(start), [&](HookExit) { ended = true; });
    REQUIRE(call.ok());
    REQUIRE(loop.run_until([&] { return ended; }, kLimit));
  }

  test::RuleFolder folder;
  base::Random random{1};
  Rule rule;
  std::optional<HookRunner> runner;
};

}  // namespace

TEST_CASE("the home of a worker that has ended is given back, and goes where it was used") {
  const std::string home = "/home-1";
  SECTION("as it was") {
    Rig rig("read -r line; exit 3");
    rig.run();
    CHECK(*rig.runner->homes()->take() == rig.folder.path() + home);
  }
  SECTION("used") {
    Rig rig("read -r line; mkdir \"$HOME/mod\"; exit 3");
    rig.run();
    CHECK_FALSE(std::filesystem::exists(rig.folder.path() + home));
    CHECK(*rig.runner->homes()->take() == rig.folder.path() + "/home-2");
  }
}
