// Limits kept by the kernel, in real cgroups. Each case enters the cgroup that was delegated to
// this process and leaves it as it was. Cases about the end of a process, or about others in its
// cgroup, play in a child that has a cgroup of its own beside those of the hooks.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.hpp"
#include "hooks/hook_cgroups.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/rule_folder.hpp"
#include "hooks/verdict.hpp"
#include "hooks/worker_line.hpp"
#include "hooks/worker_pool.hpp"
#include "loop/cgroup_facts.hpp"
#include "loop/cgroup_files.hpp"
#include "loop/cgroup_tree.hpp"
#include "loop/guardian.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using loop::CgroupTree;

namespace fs = std::filesystem;

namespace {

const char* const kEatMemory = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 600\n";
// Nobody finds it by group, session, parent or environment.
const char* const kEscape =
    "env -i setsid sh -c 'trap \"\" TERM; echo $$ > escaped.new; mv escaped.new escaped; "
    "while :; do sleep 600; done' >/dev/null 2>&1 &\n"
    "while [ ! -s escaped ]; do sleep 0.05; done\n";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string own_line() {
  return loop::read_cgroup_file("/proc/self/cgroup");
}

std::string place() {
  const auto own =
      loop::find_own_cgroup(own_line(), loop::read_cgroup_file("/proc/self/mountinfo"));
  REQUIRE(own.ok());
  return own->path;
}

std::set<std::string> folders(const std::string& path) {
  const auto found = loop::folders_in(path);
  return {found.begin(), found.end()};
}

bool is_dead(pid_t pid) {
  const std::string stat = loop::read_cgroup_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z";
}

// What is waited for happens in other processes: the loop has to look again.
bool eventually(loop::EventLoop& loop, const std::function<bool()>& done) {
  loop::Timer look;
  std::function<void()> again = [&] { look = loop.after(Duration{5}, again); };
  again();
  return loop.run_until(done, kLimit);
}

// A process in its cgroup from the beginning to the end of a case.
struct Rig {
  Rig() : before(own_line()), at(place()), was(folders(at)) {
    auto opened = CgroupTree::open();
    if (!opened.ok()) FAIL(opened.error().render());
    access.tree = *std::move(opened);
    cgroups.emplace(loop, access);
    rule.directory = folder.path();
    rule.timeout = Duration{60000};
    rule.grace = Duration{200};
  }
  ~Rig() {
    calls.clear();
    guard.reset();
    cgroups.reset();
    access = {};
    CHECK(own_line() == before);
    CHECK(folders(at) == was);
    CHECK_FALSE(has(loop::read_cgroup_file(at + "/cgroup.subtree_control"), "memory"));
  }

  std::shared_ptr<loop::Cgroup> make(const HookLimits& limits) {
    auto made = cgroups->make(limits);
    if (!made.ok()) FAIL(made.error().render());
    REQUIRE(*made != nullptr);
    return *std::move(made);
  }
  // A hook with the limits of the rule, to its end.
  HookExit run(const std::string& script) {
    rule.argv = {"/bin/sh", "-c", script};
    HookStart start;
    start.environment = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin"};
    std::optional<HookExit> end;
    auto started = HookProcess::start(
        loop, *guard, rule, std::move(start), [&](HookExit exit) { end.emplace(std::move(exit)); },
        make(rule.limits));
    if (!started.ok()) FAIL(started.error().render());
    calls.push_back(*std::move(started));
    REQUIRE(loop.run_until([&] { return end.has_value(); }, Duration{120000}));
    return *end;
  }
  std::string message(const HookExit& exit) { return judge(exit, rule, {}, {}).message; }
  // By the script, in `escaped`.
  pid_t escaped() {
    pid_t pid = 0;
    std::ifstream(folder.file("escaped")) >> pid;
    REQUIRE(pid > 1);
    return pid;
  }
  bool no_run_is_left() {
    return eventually(loop, [this] {
      for (const std::string& path : loop::folders_in(access.tree->path())) {
        if (has(path, "/run.")) return false;
      }
      return true;
    });
  }

  test::RuleFolder folder;
  loop::EventLoop loop;
  std::string before;
  std::string at;
  std::set<std::string> was;
  CgroupAccess access;
  std::optional<HookCgroups> cgroups;
  std::optional<LimitGuard> guard{std::in_place, loop};
  HookRule rule;
  std::vector<std::unique_ptr<HookCall>> calls;
};

// A process in the cgroup `at`: what `work` returns is its exit code. It ends without destructors,
// as one that is killed.
pid_t fork_into(const std::string& at, const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto moved = loop::write_cgroup_file(at + "/cgroup.procs", "0");
    _exit(moved.ok() ? work() : 99);
  }
  return pid;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Beside the cgroups of hooks: with the controllers, and without processes.
std::string fresh_cgroup(const Rig& rig, const std::string& name, bool delegated) {
  const std::string path = rig.access.tree->path() + "/" + name;
  REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  if (delegated) REQUIRE(::setxattr(path.c_str(), "user.delegate", "1", 1, 0) == 0);
  return path;
}

// Ends by SIGKILL once its hook has let a process escape.
[[noreturn]] void run_a_hook_and_be_killed(const test::RuleFolder& folder, bool guarded) {
  auto tree = CgroupTree::open();
  if (!tree.ok()) _exit(2);
  if (guarded) loop::start_guardian([tree] { (*tree)->leave(); });
  loop::EventLoop loop;
  loop::ProcessOptions options;
  options.argv = {"/bin/sh", "-c", std::string("trap '' TERM\n") + kEscape + "sleep 600\n"};
  options.environment = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin"};
  options.directory = folder.path();
  auto group = (*tree)->make({64U << 20U, 20});
  if (!group.ok()) _exit(3);
  options.cgroup = *group;
  auto process = loop::Process::start(loop, std::move(options), nullptr, nullptr);
  if (!process.ok()) _exit(4);
  const bool ready = eventually(loop, [&] { return fs::exists(folder.file("escaped")); });
  if (!ready) _exit(5);
  ::kill(getpid(), SIGKILL);
  _exit(6);
}

}  // namespace

TEST_CASE("we leave our cgroup for one below, and return") {
  const std::string before = own_line();
  const std::string at = place();
  {
    auto tree = CgroupTree::open();
    if (!tree.ok()) FAIL(tree.error().render());
    CHECK(place() == (*tree)->path() + "/self");
    const std::string on = loop::read_cgroup_file(at + "/cgroup.subtree_control");
    CHECK(has(on, "memory"));
    CHECK(has(on, "pids"));
    CHECK(loop::read_cgroup_file(at + "/cgroup.procs").empty());
  }
  CHECK(own_line() == before);
  CHECK_FALSE(has(loop::read_cgroup_file(at + "/cgroup.subtree_control"), "memory"));
  CHECK(loop::folders_in(at).empty());
}

TEST_CASE("a child is born in its cgroup, which has the limits and counts its CPU time") {
  Rig rig;
  rig.rule.limits.memory = 64U << 20U;
  rig.rule.limits.processes = 7;
  const HookExit exit = rig.run(
      "cat /proc/self/cgroup; d=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)\n"
      "cat $d/memory.max $d/pids.max $d/memory.oom.group\n");
  INFO(exit.out);
  CHECK(exit.code == 0);
  CHECK(has(exit.out, "/run.1\n"));
  CHECK(has(exit.out, "67108864\n7\n1\n"));
  CHECK(exit.over_limit.empty());
  CHECK(rig.no_run_is_left());
}

TEST_CASE(
    "over its memory a hook ends with all that it has started, and the run says which limit") {
  Rig rig;
  rig.rule.limits.memory = 32U << 20U;
  const HookExit exit = rig.run(std::string(kEscape) + kEatMemory);
  CHECK(exit.signal == SIGKILL);
  CHECK(rig.message(exit) == "ended: used more than limits.memory 32Mi");
  CHECK(eventually(rig.loop, [&] { return is_dead(rig.escaped()); }));
  CHECK(rig.no_run_is_left());
}

TEST_CASE("memory of what has left the hook's group and parent counts as well") {
  Rig rig;
  rig.rule.limits.memory = 32U << 20U;
  const HookExit exit =
      rig.run(std::string("(env -i PATH=$PATH setsid sh -c '") +
              "x=$(head -c 200000000 /dev/zero | tr \"\\0\" x); sleep 600" + "' &); sleep 600");
  CHECK(rig.message(exit) == "ended: used more than limits.memory 32Mi");
}

TEST_CASE("so little memory that no program fits ends the hook, not us") {
  Rig rig;
  for (const std::size_t bytes :
       {std::size_t{4096}, std::size_t{64} << 10U, std::size_t{1} << 20U}) {
    rig.rule.limits.memory = bytes;
    HookStart start;
    start.environment = {"PATH=/usr/bin:/bin", "LONG=" + std::string(100000, 'x')};
    std::optional<HookExit> end;
    rig.rule.argv = {"/bin/sh", "-c", "x=$(head -c 5000000 /dev/zero | tr '\\0' x); sleep 600"};
    auto started = HookProcess::start(
        rig.loop, *rig.guard, rig.rule, std::move(start),
        [&](HookExit exit) { end.emplace(std::move(exit)); }, rig.make(rig.rule.limits));
    if (!started.ok()) FAIL(started.error().render());
    REQUIRE(rig.loop.run_until([&] { return end.has_value(); }, Duration{120000}));
    CHECK(has(rig.message(*end), "ended: used more than limits.memory"));
  }
}

TEST_CASE("the kernel makes no process beyond the limit, and the hook is ended for it") {
  Rig rig;
  rig.rule.limits.processes = 5;
  const HookExit exit = rig.run(
      "d=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup); trap '' TERM\n"
      "for i in 1 2 3 4 5 6 7 8 9; do sleep 600 >/dev/null 2>&1 & done\n"
      "wait\n");
  CHECK(rig.message(exit) == "ended: used more than limits.processes 5");
  CHECK(rig.no_run_is_left());
  rig.rule.limits.processes = 20;
  const HookExit enough = rig.run("for i in 1 2 3 4 5; do sleep 0 & done; wait\n");
  CHECK(enough.code == 0);
  CHECK(enough.over_limit.empty());
}

TEST_CASE("a refused process is known although the hook goes on") {
  Rig rig;
  rig.rule.limits.processes = 2;
  // The subshell has no process left to start, and nobody minds.
  const HookExit exit = rig.run("( sleep 600 & sleep 600 & sleep 600 ) 2>/dev/null; sleep 600\n");
  CHECK(rig.message(exit) == "ended: used more than limits.processes 2");
  CHECK(exit.elapsed < Duration{50000});
}

TEST_CASE("CPU seconds are counted by the cgroup, of processes that have gone too") {
  Rig rig;
  rig.rule.limits.processes = 20;
  rig.rule.limits.cpu = Duration{1500};
  // Each lives too short to be met by a look at /proc.
  const HookExit exit = rig.run(
      "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); (env -i setsid sh -c ':' &); done; sleep "
      "600\n");
  CHECK(rig.message(exit) == "ended: used more than limits.cpu 1.5s");
}

TEST_CASE("what a hook leaves behind dies with it, wherever it went") {
  Rig rig;
  rig.rule.limits.processes = 20;
  const HookExit exit = rig.run(std::string(kEscape) + "echo done\n");
  CHECK(exit.code == 0);
  CHECK(exit.out == "done\n");
  CHECK(eventually(rig.loop, [&] { return is_dead(rig.escaped()); }));
  CHECK(rig.no_run_is_left());
}

TEST_CASE("a worker over its memory is ended, and the next one answers") {
  Rig rig;
  base::Random random{1};
  rig.rule.mode = HookMode::worker;
  rig.rule.limits.memory = 32U << 20U;
  rig.rule.argv = {"/bin/sh", "-c",
                   "while IFS= read -r line; do\n"
                   "  id=${line#*\\\"id\\\":\\\"}; id=${id%%\\\"*}\n"
                   "  if [ $id = eats ]; then x=$(head -c 200000000 /dev/zero | tr '\\0' x); fi\n"
                   "  printf '{\"id\":\"%s\"}\\n' \"$id\"\ndone\n"};
  WorkerSurroundings around;
  around.controller = "website";
  around.restart = {Duration{1}, Duration{1}, 2.0, 0.0};
  around.new_home = [&](const std::string& name) -> Result<std::string> {
    fs::create_directory(rig.folder.file(name));
    return rig.folder.file(name);
  };
  around.environment = [](const std::string& home) -> Result<HookEnvironment> {
    return HookEnvironment{{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + home}, {}};
  };
  around.new_cgroup = [&] { return rig.cgroups->make(rig.rule.limits); };
  WorkerPool pool(rig.loop, random, *rig.guard, rig.rule, std::move(around));
  const auto run = [&](const std::string& id) {
    HookStart start;
    start.id = id;
    start.input = worker_line("{\"id\":\"" + id + "\"}", {});
    std::optional<HookExit> end;
    const auto call = pool.run(std::move(start), [&](HookExit exit) { end.emplace(exit); });
    REQUIRE(rig.loop.run_until([&] { return end.has_value(); }, Duration{120000}));
    return *end;
  };
  CHECK(run("one").code == 0);
  CHECK(rig.message(run("eats")) == "ended: used more than limits.memory 32Mi");
  CHECK(run("two").code == 0);
  bool done = false;
  pool.shut_down([&] { done = true; });
  REQUIRE(rig.loop.run_until([&] { return done; }, kLimit));
}

TEST_CASE("leftovers of a process that is gone are ended and removed, those of a living one stay") {
  const std::string at = place();
  std::array<pid_t, 2> sleepers{};
  const std::array<std::string, 2> trees = {at + "/kubewatch.4000001", at + "/kubewatch.4000002"};
  for (std::size_t i = 0; i < trees.size(); ++i) {
    REQUIRE(::mkdir(trees[i].c_str(), 0755) == 0);
    REQUIRE(::mkdir((trees[i] + "/run.1").c_str(), 0755) == 0);
    sleepers[i] = fork_into(trees[i] + "/run.1", [] {
      ::signal(SIGTERM, SIG_IGN);
      for (;;) pause();
      return 0;
    });
  }
  loop::EventLoop loop;
  REQUIRE(eventually(loop, [&] {
    return has(loop::read_cgroup_file(trees[0] + "/run.1/cgroup.procs"), "\n") &&
           has(loop::read_cgroup_file(trees[1] + "/run.1/cgroup.procs"), "\n");
  }));
  {
    const loop::Fd lock(::open(trees[1].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
    const auto tree = CgroupTree::open();
    if (!tree.ok()) FAIL(tree.error().render());
    CHECK(exit_code_of(sleepers[0]) == 1000 + SIGKILL);
    CHECK_FALSE(fs::exists(trees[0]));
    CHECK(::kill(sleepers[1], 0) == 0);
  }
  { REQUIRE(CgroupTree::open().ok()); }  // nobody holds it any more
  CHECK(exit_code_of(sleepers[1]) == 1000 + SIGKILL);
  CHECK_FALSE(fs::exists(trees[1]));
}

TEST_CASE("after a controller that was killed its guardian leaves the cgroup as it was") {
  Rig rig;
  const std::string at = fresh_cgroup(rig, "case", true);
  const pid_t controller =
      fork_into(at, [&]() -> int { run_a_hook_and_be_killed(rig.folder, true); });
  CHECK(exit_code_of(controller) == 1000 + SIGKILL);
  CHECK(eventually(rig.loop, [&] { return is_dead(rig.escaped()); }));
  CHECK(eventually(rig.loop, [&] {
    return folders(at).empty() && loop::read_cgroup_file(at + "/cgroup.procs").empty();
  }));
  CHECK_FALSE(has(loop::read_cgroup_file(at + "/cgroup.subtree_control"), "memory"));
}

TEST_CASE("below a delegated unit the next controller removes what a killed one has left") {
  Rig rig;
  const std::string unit = fresh_cgroup(rig, "case", true);
  const std::string main = unit + "/main";
  REQUIRE(::mkdir(main.c_str(), 0755) == 0);
  const pid_t first =
      fork_into(main, [&]() -> int { run_a_hook_and_be_killed(rig.folder, false); });
  CHECK(exit_code_of(first) == 1000 + SIGKILL);
  const std::string left = unit + "/kubewatch." + std::to_string(first);
  CHECK(fs::exists(left + "/run.1"));
  CHECK_FALSE(fs::exists(left + "/self"));
  CHECK_FALSE(is_dead(rig.escaped()));
  const pid_t second = fork_into(main, [&] { return CgroupTree::open().ok() ? 0 : 2; });
  CHECK(exit_code_of(second) == 0);
  CHECK(eventually(rig.loop, [&] { return is_dead(rig.escaped()); }));
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("a cgroup with other processes in it is left alone, and they are named") {
  Rig rig;
  const std::string at = fresh_cgroup(rig, "case", true);
  const pid_t stranger = fork_into(at, [] {
    ::prctl(PR_SET_NAME, "stranger", 0, 0, 0);
    for (;;) pause();
    return 0;
  });
  REQUIRE(eventually(rig.loop, [&] {
    return loop::read_cgroup_file("/proc/" + std::to_string(stranger) + "/comm") == "stranger\n";
  }));
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t controller = fork_into(at, [&] {
    const auto tree = CgroupTree::open();
    const std::string text = tree.ok() ? "opened" : tree.error().render();
    return ::write(ends[1], text.data(), text.size()) > 0 ? 0 : 2;
  });
  CHECK(exit_code_of(controller) == 0);
  std::array<char, 512> text{};
  REQUIRE(::read(ends[0], text.data(), text.size() - 1) > 0);
  CHECK(std::string(text.data()) ==
        "other processes are in " + at + ": stranger (" + std::to_string(stranger) + ")");
  CHECK(loop::read_cgroup_file(at + "/cgroup.subtree_control").find("memory") == std::string::npos);
  CHECK(folders(at).empty());
  for (const int end : ends) ::close(end);
  ::kill(stranger, SIGKILL);
  CHECK(exit_code_of(stranger) == 1000 + SIGKILL);
}
