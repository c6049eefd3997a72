// A child that is talked with: its stdin is written while it runs, its stdout read as it comes.
#include <algorithm>

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

}  // namespace
}  // namespace kubewatch::loop
