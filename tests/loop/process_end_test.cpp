// How children are ended: timeouts, terminate(), destruction, and what they leave behind.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
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

TEST_CASE("the time to drain pipes does not begin before a long turn in which the child ends") {
  const TempDir folder;
  EventLoop loop;
  const std::string go = folder.path + "/go";
  ProcessOptions options =
      shell("(while [ ! -e " + go + " ]; do sleep 0.01; done) 2>/dev/null & echo said >&2");
  bool long_turn = false;
  std::optional<ProcessExit> result;
  auto process = Process::start(
      loop, options,
      [&](std::string_view) {
        const auto end = std::chrono::steady_clock::now() + options.drain + Duration{100};
        while (std::chrono::steady_clock::now() < end) {
        }
        std::ofstream(go) << "x";
        long_turn = true;
      },
      [&](ProcessExit exit) { result.emplace(std::move(exit)); });
  REQUIRE(process.ok());
  // So that its line and its end come in one turn.
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>((*process)->pid()), &info, WEXITED | WNOWAIT) == 0);
  REQUIRE(loop.run_until([&] { return result.has_value(); }, kLimit));
  CHECK(long_turn);
  CHECK_FALSE(result->pipes_held);
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

// Lines are made with their own FIFO beside them: what waits for it says so, and goes on when told.
struct Gate {
  Gate() {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    // Both ways: to open it waits for nobody.
    fd = Fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  void let_go() const { CHECK(write(fd.get(), "now\n", 4) == 4); }
  TempDir folder;
  std::string path = folder.path + "/gate";
  Fd fd;
};

bool has_line(const Run& run, const std::string& line) {
  return std::find(run.lines.begin(), run.lines.end(), line) != run.lines.end();
}

// Turns the loop for a while that begins now.
void pass(EventLoop& loop, Duration time) {
  bool over = false;
  const Timer end = loop.after(time, [&over] { over = true; });
  loop.run_until([&over] { return over; }, kLimit);
}

TEST_CASE("the grace time is everybody's in the group, though the leader dies of TERM at once") {
  struct Case {
    std::string name, on_term;
  };
  const Gate gate;
  const std::string wait_at_gate = "echo waits >&2; read line <" + gate.path + "; echo cleaned";
  const std::vector<Case> cases = {
      {"who was there before", wait_at_gate},
      {"who was born meanwhile", "sh -c \"" + wait_at_gate + "\" & exit 0"},
      {"who has closed its output",
       "exec 3>&2 >/dev/null 2>&1; echo waits >&3; exec 3>&-; read line <" + gate.path + "; : >" +
           gate.folder.path + "/cleaned"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    EventLoop loop;
    ProcessOptions options = shell("(trap '" + c.on_term +
                                   "; exit 0' TERM; echo up >&2; while :; do sleep 0.01; done) & "
                                   "exec sleep 1000");
    options.drain = Duration{5};
    options.grace = kLimit;
    Run one;
    one.start(loop, options);
    REQUIRE(loop.run_until([&] { return has_line(one, "up"); }, kLimit));
    one.process->terminate();
    REQUIRE(loop.run_until([&] { return has_line(one, "waits"); }, kLimit));
    const pid_t leader = one.process->pid();
    REQUIRE(all_die(loop, {leader}));
    pass(loop, 20 * options.drain);
    REQUIRE_FALSE(one.exit.has_value());
    gate.let_go();
    one.wait(loop);
    CHECK(one.exit->canceled);
    CHECK(one.exit->signal == SIGTERM);
    CHECK(one.exit->elapsed >= 20 * options.drain);
    CHECK_FALSE(one.exit->pipes_held);
    const bool in_file = access((gate.folder.path + "/cleaned").c_str(), F_OK) == 0;
    CHECK((one.exit->out == "cleaned\n" || in_file));
  }
}

TEST_CASE("whoever of the group is left after the grace time is killed, leader or not") {
  EventLoop loop;
  ProcessOptions options =
      shell("(trap '' TERM; sh -c 'echo $PPID; exec sleep 1000') & exec sleep 1000");
  options.grace = Duration{200};
  options.drain = kLimit / 2;  // its pipes are closed by its death
  const ProcessExit result = run_until_timeout(loop, options, 1);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGTERM);
  CHECK(result.elapsed >= Duration{200} + options.grace);
  CHECK_FALSE(result.pipes_held);
  CHECK(all_die(loop, pids_in(result.out)));
}

TEST_CASE("a zombie that nobody reaps does not keep its group for the grace time") {
  become_subreaper();
  EventLoop loop;
  // Its parent has left the group, and waits for no child.
  ProcessOptions options = shell(
      "sh -c '(exit 0) & exec setsid sh -c \"echo up >&2; exec sleep 1000 >/dev/null 2>&1\"' & "
      "exec sleep 1000");
  options.grace = kLimit;
  Run one;
  one.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return has_line(one, "up"); }, kLimit));
  one.process->terminate();
  REQUIRE(loop.run_until([&] { return one.exit.has_value(); }, kLimit / 2));
  CHECK(one.exit->signal == SIGTERM);
}

TEST_CASE("kill() ends the grace time of those that the leader left") {
  EventLoop loop;
  ProcessOptions options = shell("(trap '' TERM; echo up >&2; sleep 1000) & exec sleep 1000");
  options.grace = kLimit;
  Run one;
  one.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return has_line(one, "up"); }, kLimit));
  one.process->terminate();
  REQUIRE(all_die(loop, {one.process->pid()}));
  REQUIRE_FALSE(one.exit.has_value());
  one.process->kill();
  REQUIRE(loop.run_until([&] { return one.exit.has_value(); }, kLimit / 2));
}

TEST_CASE("destroying a process kills those that its leader left to their grace time") {
  EventLoop loop;
  ProcessOptions options =
      shell("(trap '' TERM; exec sh -c 'echo $$ >&2; exec sleep 1000') & exec sleep 1000");
  options.grace = kLimit;
  Run one;
  one.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return !one.lines.empty(); }, kLimit));
  one.process->terminate();
  REQUIRE(all_die(loop, {one.process->pid()}));
  pass(loop, Duration{20});
  const std::vector<pid_t> left = pids_in(one.lines[0]);
  REQUIRE(is_alive(left.at(0)));
  one.process.reset();
  CHECK(all_die(loop, left));
  CHECK_FALSE(one.exit.has_value());
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

// A process that no Process started, and a child of ours, as all orphans are of a container's first
// process.
pid_t adopted_stranger() {
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const pid_t middle = fork();
  if (middle == 0) {
    if (fork() == 0) {
      setsid();
      const pid_t self = getpid();
      const bool told = write(ends[1], &self, sizeof self) == sizeof self;
      if (told) execle("/bin/sleep", "sleep", "1000", nullptr, std::array<char*, 1>{}.data());
    }
    _exit(0);
  }
  close(ends[1]);
  REQUIRE(waitpid(middle, nullptr, 0) == middle);
  pid_t out = 0;
  REQUIRE(read(ends[0], &out, sizeof out) == sizeof out);
  // Its end of the pipe is closed when it is another program, without our environment.
  char none = 0;
  CHECK(read(ends[0], &none, 1) == 0);
  close(ends[0]);
  return out;
}

TEST_CASE("who was a child of ours before a process began is not ended with it") {
  become_subreaper();
  EventLoop loop;
  const pid_t stranger = adopted_stranger();
  // It may have been born in the same tick of the kernel's clock.
  for (int i = 0; i < 3; ++i) {
    CHECK(run(loop, shell("exit 0")).code == 0);
    REQUIRE(is_alive(stranger));
  }
  kill(stranger, SIGKILL);
  REQUIRE(all_die(loop, {stranger}));
  // And is still reaped.
  CHECK(run(loop, shell("exit 0")).code == 0);
  CHECK(kill(stranger, 0) != 0);
}

TEST_CASE("who may leave others leaves them alive when it ends by itself, and only then") {
  become_subreaper();
  EventLoop loop;
  const std::string start =
      "sleep 1000 >/dev/null 2>&1 & echo $!; "
      "setsid sh -c 'echo $$; : >up; exec sleep 1000 >/dev/null 2>&1' & "
      "while [ ! -e up ]; do sleep 0.01; done; ";
  const auto leaver = [&](const TempDir& folder, const std::string& then) {
    ProcessOptions options = shell(start + then);
    options.directory = folder.path;
    options.drain = Duration{50};
    options.leaves_others = true;
    return options;
  };
  const TempDir folder;
  Run meanwhile;
  meanwhile.start(loop, shell("exec sleep 1000"));
  const ProcessExit ended = run(loop, leaver(folder, "exit 0"));
  CHECK(ended.code == 0);
  const auto left = pids_in(ended.out);
  REQUIRE(left.size() == 2);
  // Nor with another, during whose life they were born.
  meanwhile.process.reset();
  for (const pid_t pid : left) {
    CHECK(is_alive(pid));
    kill(pid, SIGKILL);
  }
  CHECK(all_die(loop, left));
  const TempDir other;
  const ProcessExit late = run_until_timeout(loop, leaver(other, "sleep 1000"), 2);
  CHECK(late.timed_out);
  CHECK(all_die(loop, pids_in(late.out)));
  const TempDir third;
  ProcessOptions much = leaver(third, "exec yes");
  much.max_stdout = 1000;
  const ProcessExit overflow = run(loop, std::move(much));
  CHECK(overflow.output_overflow);
  CHECK(all_die(loop, pids_in(overflow.out)));
}

TEST_CASE("who is left may go on writing, and neither dies of it nor waits for a reader") {
  EventLoop loop;
  const TempDir folder;
  const auto exists = [&folder](const char* name) {
    return access((folder.path + "/" + name).c_str(), F_OK) == 0;
  };
  ProcessOptions options = shell(
      "{ while [ ! -e go ]; do sleep 0.01; done; echo late >&2; echo late; "
      "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero; : >done; } & echo early >&2");
  options.directory = folder.path;
  options.drain = Duration{1};
  options.leaves_others = true;
  Run first;
  first.start(loop, std::move(options));
  first.wait(loop);
  CHECK(first.exit->pipes_held);
  CHECK(first.lines == std::vector<std::string>{"early"});
  first.process.reset();
  folder.file("go", "", 0600);
  Timer tick;
  const Callback again = [&] { tick = loop.after(Duration{1}, again); };
  again();
  CHECK(loop.run_until([&] { return exists("done"); }, kLimit));
}

TEST_CASE("what was left in our own group is reaped when it has ended") {
  become_subreaper();
  EventLoop loop;
  ProcessOptions options = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  options.terminal = true;
  options.leaves_others = true;
  const auto left = pids_in(run(loop, std::move(options)).out);
  REQUIRE(left.size() == 1);
  CHECK(is_alive(left[0]));
  CHECK(getpgid(left[0]) == getpgrp());
  kill(left[0], SIGKILL);
  REQUIRE(all_die(loop, left));
  CHECK(run(loop, shell("exit 0")).code == 0);
  CHECK(kill(left[0], 0) != 0);
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
