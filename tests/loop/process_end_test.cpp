// How children are ended: timeouts, terminate(), destruction, and what they leave behind.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "loop/process.hpp"
#include "process_fixture.hpp"

namespace kubewatch::loop {
namespace {

// The numbers that a script printed to stdout.
std::vector<pid_t> pids_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<pid_t> out;
  pid_t pid = 0;
  while (in >> pid) out.push_back(pid);
  return out;
}

bool all_die(EventLoop& loop, const std::vector<pid_t>& pids) {
  const auto dead = [&pids] { return std::none_of(pids.begin(), pids.end(), is_alive); };
  Timer tick;
  const Callback again = [&] { tick = loop.after(Duration{1}, again); };
  again();
  return loop.run_until(dead, kLimit);
}

// Ended by a timeout after it has printed `lines`: a busy machine needs more time for them.
ProcessExit run_until_timeout(EventLoop& loop, ProcessOptions options, std::ptrdiff_t lines) {
  options.timeout = Duration{200};
  for (;;) {
    ProcessExit result = run(loop, options);
    const bool up = std::count(result.out.begin(), result.out.end(), '\n') >= lines;
    if (up || options.timeout > kLimit / 4) return result;
    options.timeout *= 4;
  }
}

TEST_CASE("a timeout sends TERM, and a child that cleans up ends with its own code") {
  EventLoop loop;
  const ProcessExit result = run_until_timeout(
      loop, shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done"), 1);
  CHECK(result.timed_out);
  CHECK_FALSE(result.canceled);
  CHECK(result.code == 7);
  CHECK(result.out == "up\nbye\n");
}

TEST_CASE("after the grace time a child that ignores TERM is killed") {
  EventLoop loop;
  ProcessOptions options = shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
  options.grace = Duration{50};
  const ProcessExit result = run_until_timeout(loop, std::move(options), 1);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.elapsed >= Duration{200 + 50});
}

TEST_CASE("a timeout ends the grandchildren in the background as well") {
  EventLoop loop;
  const ProcessExit result =
      run_until_timeout(loop, shell("sleep 1000 & echo $!; sleep 1000 & echo $!; wait"), 2);
  CHECK(result.timed_out);
  const auto pids = pids_in(result.out);
  REQUIRE(pids.size() == 2);
  CHECK(all_die(loop, pids));
}

TEST_CASE("without a timeout nothing ends the child but itself") {
  EventLoop loop;
  ProcessOptions options = shell("sleep 0.1");
  options.timeout = Duration{0};
  CHECK(run(loop, options).code == 0);
}

TEST_CASE("a background grandchild does not outlive a child that ends well") {
  EventLoop loop;
  ProcessOptions options = shell("sleep 1000 & echo $!");
  options.drain = Duration{30};
  const ProcessExit held = run(loop, std::move(options));
  CHECK(held.code == 0);
  CHECK(held.pipes_held);
  CHECK(all_die(loop, pids_in(held.out)));
  options = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  options.drain = kLimit / 2;  // it has to come so far that it lets go of the pipes
  const ProcessExit quiet = run(loop, std::move(options));
  CHECK_FALSE(quiet.pipes_held);
  CHECK(all_die(loop, pids_in(quiet.out)));
}

TEST_CASE("terminate() is a TERM with grace, and is reported as canceled") {
  EventLoop loop;
  Run one;
  one.start(loop, shell("trap 'exit 9' TERM; echo ready >&2; while :; do sleep 0.01; done"));
  REQUIRE(loop.run_until([&] { return !one.lines.empty(); }, kLimit));
  one.process->terminate();
  one.process->terminate();
  one.wait(loop);
  CHECK(one.exit->canceled);
  CHECK(one.exit->code == 9);
  one.process->terminate();
}

TEST_CASE("destroying a process kills its group and calls nothing") {
  EventLoop loop;
  Run one;
  one.start(loop, shell("trap '' TERM; sleep 1000 & echo $! >&2; wait; sleep 1000"));
  REQUIRE(loop.run_until([&] { return !one.lines.empty(); }, kLimit));
  const pid_t child = one.process->pid();
  const pid_t grandchild = std::stoi(one.lines[0]);
  one.process.reset();
  CHECK(kill(child, 0) != 0);
  CHECK(all_die(loop, {grandchild}));
  CHECK_FALSE(one.exit.has_value());
}

TEST_CASE("with a subreaper, descendants that left the group by setsid or a double fork end, too") {
  become_subreaper();
  EventLoop loop;
  struct Case {
    std::string name, script;
  };
  const std::vector<Case> cases = {
      {"setsid", "setsid sh -c 'echo $$; : >up; exec sleep 1000 >/dev/null 2>&1' & "},
      {"daemon with a child",
       "setsid sh -c 'echo $$; sleep 1000 >/dev/null 2>&1 & echo $!; : >up; wait' & "},
      {"double fork", "(setsid sh -c 'echo $$; : >up; exec >/dev/null 2>&1; sleep 1000' &) ; "},
      {"no environment",
       "env -i setsid sh -c 'echo $$; : >up; exec sleep 1000 >/dev/null 2>&1' & "},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const TempDir folder;
    ProcessOptions options = shell(c.script + "while [ ! -e up ]; do sleep 0.01; done");
    options.directory = folder.path;
    options.drain = Duration{50};
    const ProcessExit result = run(loop, std::move(options));
    CHECK(result.code == 0);
    const auto pids = pids_in(result.out);
    REQUIRE_FALSE(pids.empty());
    CHECK(all_die(loop, pids));
    errno = 0;
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
  }
}

TEST_CASE("a subreaper ends what left the group on a timeout and on destruction") {
  become_subreaper();
  EventLoop loop;
  ProcessOptions options = shell("setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000");
  options.drain = Duration{20};
  const ProcessExit result = run_until_timeout(loop, std::move(options), 1);
  CHECK(result.timed_out);
  const auto pids = pids_in(result.out);
  REQUIRE(pids.size() == 1);
  CHECK(all_die(loop, pids));
  Run one;
  one.start(loop, shell("setsid sh -c 'echo $$ >&2; exec sleep 1000' & sleep 1000"));
  REQUIRE(loop.run_until([&] { return !one.lines.empty(); }, kLimit));
  one.process.reset();
  CHECK(all_die(loop, pids_in(one.lines[0])));
}

TEST_CASE("what another running process left behind is not touched") {
  become_subreaper();
  EventLoop loop;
  Run owner;
  owner.start(loop,
              shell("(setsid sh -c 'echo $$ >&2; exec sleep 1000 2>/dev/null' &); sleep 1000"));
  REQUIRE(loop.run_until([&] { return !owner.lines.empty(); }, kLimit));
  const pid_t daemon = std::stoi(owner.lines[0]);
  CHECK(run(loop, shell("setsid sleep 1000 >/dev/null 2>&1 & exit 0")).code == 0);
  CHECK(is_alive(daemon));
  owner.process.reset();
  CHECK(all_die(loop, {daemon}));
}

TEST_CASE("a child is told when we die") {
  // As a subreaper we inherit the child of `middle`, and see how it ended.
  become_subreaper();
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t middle = fork();
  if (middle == 0) {
    EventLoop loop;
    const auto started = Process::start(
        loop, shell("echo $$ >&2; exec sleep 1000"),
        [&ends](std::string_view line) { std::_Exit(!write(ends[1], line.data(), line.size())); },
        nullptr);
    loop.run();
    std::_Exit(1);
  }
  close(ends[1]);
  std::array<char, 32> text{};
  REQUIRE(read(ends[0], text.data(), text.size() - 1) > 0);
  close(ends[0]);
  const pid_t child = std::atoi(text.data());
  REQUIRE(waitpid(middle, nullptr, 0) == middle);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

}  // namespace
}  // namespace kubewatch::loop
