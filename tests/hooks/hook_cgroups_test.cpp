// Which hooks get a cgroup, and what becomes of its folder; on plain folders.
#include "hooks/hook_cgroups.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace fs = std::filesystem;

namespace {

// Files of a hierarchy that nobody looks after; rmdir says busy so many times.
struct Place {
  CgroupAccess access(loop::CgroupControllers controllers) {
    give_files(folder.path());
    loop::CgroupFolders folders{[this](const std::string& path) {
                                  if (full) return EAGAIN;
                                  fs::create_directory(path);
                                  give_files(path);
                                  return 0;
                                },
                                [this](const std::string& path) {
                                  if (busy > 0) return --busy, EBUSY;
                                  fs::remove_all(path);
                                  return 0;
                                }};
    auto tree = loop::CgroupTree::open({folder.path(), controllers, true}, std::move(folders));
    REQUIRE(tree.ok());
    return {*tree, ""};
  }
  static void give_files(const std::string& path) {
    for (const char* name :
         {"cgroup.procs", "cgroup.subtree_control", "cgroup.kill", "memory.max", "pids.max"}) {
      std::ofstream(path + "/" + name) << "";
    }
  }

  test::RuleFolder folder;
  bool full = false;
  int busy = 0;
};

HookLimits limits(std::size_t memory, std::size_t processes, Duration cpu) {
  HookLimits out;
  out.memory = memory;
  out.processes = processes;
  out.cpu = cpu;
  return out;
}

Rule rule_with(const HookLimits& of_reconcile) {
  Rule out;
  out.reconcile.limits = of_reconcile;
  return out;
}

}  // namespace

TEST_CASE("only rules that limit memory or processes ask for cgroups") {
  CHECK_FALSE(want_cgroups({rule_with({})}));
  CHECK_FALSE(want_cgroups({rule_with(limits(0, 0, Duration{1000}))}));
  CHECK(want_cgroups({rule_with({}), rule_with(limits(1, 0, Duration{0}))}));
  CHECK(want_cgroups({rule_with(limits(0, 1, Duration{0}))}));
  Rule finalizing = rule_with({});
  finalizing.finalize.emplace();
  CHECK_FALSE(want_cgroups({finalizing}));
  finalizing.finalize->hook.limits.processes = 2;
  CHECK(want_cgroups({finalizing}));
  const CgroupAccess access = open_cgroups({rule_with({})});
  CHECK(access.tree == nullptr);
  CHECK(access.why_not.find("no rule limited memory or processes") == 0);
}

TEST_CASE("a hook gets a cgroup for the limits that it can keep, another none") {
  Place place;
  loop::EventLoop loop;
  HookCgroups cgroups(loop, place.access({true, false}));
  auto made = cgroups.make(limits(64U << 20U, 6, Duration{1000}));
  REQUIRE(made.ok());
  REQUIRE(*made != nullptr);
  CHECK((*made)->limits().memory == std::optional<std::uint64_t>(64U << 20U));
  CHECK_FALSE((*made)->limits().processes);
  for (const HookLimits& without : {limits(0, 6, Duration{1000}), limits(0, 0, Duration{1000})}) {
    auto none = cgroups.make(without);
    REQUIRE(none.ok());
    CHECK(*none == nullptr);
  }
  HookCgroups nowhere(loop, {nullptr, "why"});
  auto none = nowhere.make(limits(1, 1, Duration{1}));
  REQUIRE(none.ok());
  CHECK(*none == nullptr);
}

TEST_CASE("without a cgroup that it should have a hook is not started: the error says why") {
  Place place;
  loop::EventLoop loop;
  HookCgroups cgroups(loop, place.access({true, true}));
  place.full = true;
  const auto made = cgroups.make(limits(1U << 20U, 0, Duration{0}));
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().render().find("cannot make the cgroup " + place.folder.path()) == 0);
}

TEST_CASE("a folder whose processes are still dying is removed a little later, by the loop") {
  Place place;
  loop::EventLoop loop;
  HookCgroups cgroups(loop, place.access({true, true}));
  auto made = cgroups.make(limits(1U << 20U, 0, Duration{0}));
  REQUIRE(made.ok());
  const std::string path = (*made)->path();
  place.busy = 3;
  made->reset();
  CHECK(fs::exists(path));
  CHECK(place.busy == 2);
  REQUIRE(loop.run_until([&] { return !fs::exists(path); }, kLimit));
  CHECK(place.busy == 0);
}
