// Who is looked at, and from when on.
#include "hooks/limit_guard.hpp"

#include <filesystem>
#include <fstream>

#include "hooks/rule_folder.hpp"
#include "loop/cgroup_tree.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a hook that shares our memory yet is not taken for one that uses as much") {
  loop::EventLoop loop;
  LimitGuard guard(loop);
  loop::ProcessOptions options;
  options.argv = {"/bin/sh", "-c", "sleep 100"};
  const auto process = loop::Process::start(loop, options, nullptr, nullptr);
  REQUIRE(process.ok());
  HookLimits limits;
  limits.memory = 1;
  std::string why;
  int asked = 0;
  const auto watched =
      guard.watch((*process)->pid(), limits, [&](std::string text) { why = std::move(text); },
                  [&] { return ++asked > 3; });
  REQUIRE(loop.run_until([&] { return asked == 3; }, kLimit));
  CHECK(why.empty());
  REQUIRE(loop.run_until([&] { return !why.empty(); }, kLimit));
  CHECK(asked == 4);  // and not any more
  CHECK(why.find("limits.memory") != std::string::npos);
}

namespace {

// A plain folder in the place of a cgroup.
std::shared_ptr<loop::Cgroup> cgroup_at(const test::RuleFolder& folder) {
  for (const char* name : {"memory.max", "pids.max", "cgroup.kill"}) folder.write(name, "");
  auto out = loop::Cgroup::open(folder.path(), {64U << 20U, 6}, nullptr);
  REQUIRE(out.ok());
  return *out;
}

}  // namespace

TEST_CASE("of a hook in a cgroup the cgroup is asked, not its processes") {
  const test::RuleFolder folder;
  loop::EventLoop loop;
  LimitGuard guard(loop);
  HookLimits limits;
  limits.memory = 1;  // any process would be over it
  limits.processes = 6;
  limits.cpu = Duration{10000};
  std::string why;
  int looks = 0;
  const auto watched = guard.watch(
      getpid(), limits, [&](std::string text) { why = std::move(text); },
      [&] {
        ++looks;
        return false;
      },
      cgroup_at(folder));
  loop::Timer later = loop.after(Duration{100}, [&] {
    CHECK(why.empty());
    folder.write("pids.events", "max 1\n");
  });
  REQUIRE(loop.run_until([&] { return !why.empty(); }, kLimit));
  CHECK(why == "more than limits.processes 6");
  CHECK(looks == 0);  // nothing of it is left to be looked at
}

TEST_CASE("CPU time of a worker's cgroup counts from its next run on") {
  const test::RuleFolder folder;
  loop::EventLoop loop;
  LimitGuard guard(loop);
  HookLimits limits;
  limits.memory = 64U << 20U;
  limits.cpu = Duration{10000};
  std::string why;
  auto watched = guard.watch(
      getpid(), limits, [&](std::string text) { why = std::move(text); }, nullptr,
      cgroup_at(folder));
  folder.write("cpu.stat", "usage_usec 60000000\n");
  watched.restart_cpu();
  folder.write("cpu.stat", "usage_usec 69000000\n");
  loop::Timer later = loop.after(Duration{100}, [&] {
    CHECK(why.empty());
    folder.write("cpu.stat", "usage_usec 70100000\n");
  });
  REQUIRE(loop.run_until([&] { return !why.empty(); }, kLimit));
  CHECK(why == "more than limits.cpu 10s");
}
