// A child that is talked with: its stdin is written while it runs, its stdout read as it comes.
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "loop/process_table.hpp"
#include "process_fixture.hpp"

namespace kubewatch::loop {
namespace {

TEST_CASE("what is written reaches the child, more than a pipe holds, and comes back in order") {
  EventLoop loop;
  std::string back;
  ProcessOptions options = shell("exec cat");
  options.timeout = Duration{0};
  options.on_output = [&](std::string_view bytes) { back += bytes; };
  Run child;
  child.start(loop, std::move(options));
  std::string sent;
  for (int i = 0; i < 100000; ++i) sent += std::to_string(i) + "\n";
  child.process->write(std::string_view(sent).substr(0, 10));
  child.process->write(std::string_view(sent).substr(10));
  REQUIRE(loop.run_until([&] { return back.size() >= sent.size(); }, kLimit));
  CHECK(back == sent);
  CHECK(cpu_time_of(child.process->pid()).has_value());
  CHECK(peak_memory_of(child.process->pid()) > 0);
  child.process->kill();
  child.wait(loop);
  CHECK(child.exit->signal == SIGKILL);
  CHECK(child.exit->out.empty());
}

TEST_CASE("lines of stderr that came first are told before the output they belong to") {
  EventLoop loop;
  Run child;
  std::size_t lines_before = 0;
  ProcessOptions options = shell("while read -r x; do echo err >&2; echo out; done");
  options.on_output = [&](std::string_view) { lines_before = child.lines.size(); };
  child.start(loop, std::move(options));
  for (std::size_t i = 1; i <= 5; ++i) {
    child.process->write("x\n");
    REQUIRE(loop.run_until([&] { return lines_before == i; }, kLimit));
  }
  child.process->terminate();
  child.wait(loop);
}

TEST_CASE("writing to a child that is gone, or reads nothing, harms nobody") {
  EventLoop loop;
  ProcessOptions options = shell("exec <&-; sleep 600");
  options.timeout = Duration{300};
  options.grace = Duration{0};
  options.on_output = [](std::string_view) {};
  Run child;
  child.start(loop, std::move(options));
  for (int i = 0; i < 100; ++i) child.process->write(std::string(10000, 'x'));
  child.wait(loop);
  CHECK(child.exit->timed_out);
  child.process->write("too late\n");
}

TEST_CASE("a child may be destroyed by what it says") {
  EventLoop loop;
  Run child;
  bool gone = false;
  ProcessOptions options = shell("echo end me; sleep 600");
  options.on_output = [&](std::string_view) {
    child.process.reset();
    gone = true;
  };
  child.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return gone; }, kLimit));
  CHECK_FALSE(child.exit);
}

TEST_CASE("a group is measured with what left it") {
  EventLoop loop;
  Run child;
  bool ready = false;
  ProcessOptions options = shell(
      "sleep 600 & setsid sleep 600 & sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); "
      "done'; echo ready; wait");
  options.on_output = [&](std::string_view) { ready = true; };
  child.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return ready; }, kLimit));
  const pid_t leader = child.process->pid();
  const auto usage = measure_groups({leader, 999999999});
  REQUIRE(usage.size() == 1);
  CHECK(usage.at(leader).processes == 3);
  CHECK(usage.at(leader).memory > 0);
  child.process->kill();
  child.wait(loop);
}

TEST_CASE("a group is measured with what left it and lost its parent, and others' is not counted") {
  become_subreaper();
  EventLoop loop;
  const std::string orphan =
      "(setsid sh -c 'sleep 600 & i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "
      "echo ready >&2; wait' &); sleep 600";
  Run one;
  Run other;
  one.start(loop, shell(orphan));
  other.start(loop, shell("echo ready >&2; sleep 600"));
  REQUIRE(loop.run_until([&] { return !one.lines.empty() && !other.lines.empty(); }, kLimit));
  const pid_t leader = one.process->pid();
  // The outer shells may not have forked their sleeps yet.
  Timer tick;
  const Callback again = [&] { tick = loop.after(Duration{5}, again); };
  again();
  REQUIRE(loop.run_until(
      [&] {
        const auto now = measure_groups({leader, other.process->pid()});
        return now.at(leader).processes >= 4 && now.at(other.process->pid()).processes >= 2;
      },
      kLimit));
  auto usage = measure_groups({leader, other.process->pid()});
  CHECK(usage.at(leader).processes == 4);  // two shells, two sleeps
  CHECK(usage.at(other.process->pid()).processes == 2);
  usage = measure_groups({other.process->pid()});
  REQUIRE(usage.size() == 1);
  CHECK(usage.at(other.process->pid()).processes == 2);
}

TEST_CASE("what left the group and has ended counts with its CPU time, reaped or not") {
  become_subreaper();
  EventLoop loop;
  Run one;
  // It tells that it is there, waits to be seen, and is ended by the kernel's limit of a second.
  ProcessOptions options =
      shell("(setsid sh -c 'echo $$ >&2; sleep 0.2; while :; do :; done' &); sleep 600");
  options.limits.cpu_seconds = 1;
  one.start(loop, std::move(options));
  REQUIRE(loop.run_until([&] { return !one.lines.empty(); }, kLimit));
  const pid_t leader = one.process->pid();
  const auto used = [&] { return measure_groups({leader}).at(leader); };
  CHECK_FALSE(used().cpu_limit);
  const pid_t orphan = std::stoi(one.lines[0]);
  Timer tick;
  const Callback again = [&] { tick = loop.after(Duration{5}, again); };
  again();
  REQUIRE(loop.run_until([&] { return !is_alive(orphan); }, kLimit));
  CHECK(used().cpu_limit);
  CHECK(used().cpu > Duration{100});  // the kernel's second is one of ticks
  // The end of another child reaps what has ended.
  CHECK(run(loop, shell("exit 0")).code == 0);
  errno = 0;
  REQUIRE(kill(orphan, 0) != 0);
  CHECK(used().cpu_limit);
  CHECK(used().cpu > Duration{100});
}

TEST_CASE("shared memory counts, once for all that share it") {
  constexpr std::size_t kSize = 8U << 20U;
  const auto used = [] { return measure_groups({getpid()}).at(getpid()).memory; };
  const std::uint64_t before = used();
  void* const shared =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  std::memset(shared, 1, kSize);
  const std::uint64_t alone = used();
  CHECK(alone >= before + kSize);
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    volatile char sum = 0;
    for (std::size_t i = 0; i < kSize; i += 4096) sum = sum + static_cast<const char*>(shared)[i];
    static_cast<void>(write(ends[1], "r", 1));
    pause();
    _exit(0);
  }
  char ready = 0;
  REQUIRE(read(ends[0], &ready, 1) == 1);
  std::ifstream rollup("/proc/self/smaps_rollup");
  const std::string text((std::istreambuf_iterator<char>(rollup)), {});
  // Old kernels do not say what is shared.
  if (parse_memory_line(text, "Pss_Shmem:")) CHECK(used() < alone + before + kSize / 2);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  munmap(shared, kSize);
}

}  // namespace
}  // namespace kubewatch::loop
