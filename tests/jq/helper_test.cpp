#include "jq/helper.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::jq;

namespace {

// Long enough for a busy machine.
const Limits kPatient = {Duration(60000), 1U << 20U, 10000};

std::vector<Json> run(const std::string& text, const Json& input = nullptr) {
  auto outputs = helper_run(text, input, kPatient);
  INFO(text);
  if (!outputs.ok()) FAIL(outputs.error().render());
  return *std::move(outputs);
}

std::string proc(const std::string& name) {
  return "/proc/" + std::to_string(helper_pid()) + "/" + name;
}

volatile sig_atomic_t deadly = 0;
void send_deadly(int) {
  if (const int pid = helper_pid(); pid > 0) ::kill(pid, deadly);
}

// How a program ends while the helper is sent `number` again and again.
Error ended_by(int number) {
  run("1");  // it is there, with signals of its own
  deadly = number;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = send_deadly;
  ::sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 20000}, {0, 20000}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  auto result = helper_run("def f: f; f", nullptr, kPatient);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  REQUIRE_FALSE(result.ok());
  return result.error();
}

}  // namespace

TEST_CASE("one helper process serves many programs") {
  REQUIRE(run("1 + 1") == std::vector<Json>{2});
  const int pid = helper_pid();
  REQUIRE(pid > 0);
  CHECK(run(".a, ..", Json{{"a", 1}}) == std::vector<Json>{1, Json{{"a", 1}}, 1});
  for (int i = 0; i < 300; ++i) CHECK(run("1 + 1") == std::vector<Json>{2});
  for (int i = 0; i < 5; ++i) CHECK(run(std::to_string(i) + "|.") == std::vector<Json>{i});
  CHECK(helper_pid() == pid);
}

TEST_CASE("an error leaves the helper usable") {
  auto failed = helper_run(".a", 5, kPatient);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message() == "Cannot index number with string \"a\"");
  auto broken = helper_compile(".a[");
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().kind() == ErrorKind::invalid);
  CHECK(broken.error().message() == "syntax error, unexpected $end");
  CHECK(run("1") == std::vector<Json>{1});
}

TEST_CASE("a program past its deadline is killed and the next one gets a new process") {
  run("1");
  const int pid = helper_pid();
  Limits limits;
  limits.deadline = Duration(100);
  const auto begin = std::chrono::steady_clock::now();
  for (const char* text : {"def f: f; f", "[range(1e12)]|length", "last(repeat(1))"}) {
    auto result = helper_run(text, nullptr, limits);
    INFO(text);
    REQUIRE_FALSE(result.ok());
    const ErrorKind kind = result.error().kind();
    CHECK((kind == ErrorKind::timeout || kind == ErrorKind::too_large));
    CHECK(helper_pid() == 0);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  CHECK(run("2") == std::vector<Json>{2});
  CHECK(helper_pid() != pid);
}

TEST_CASE("what libjq needs to compile a program is not taken off its deadline") {
  // libjq looks for each variable in all that are open: half a second to compile, nothing to run.
  std::string text;
  for (int function = 0; function < 4; ++function) {
    text += "def f" + std::to_string(function) + ": ";
    for (int i = 0; i < 2000; ++i) text += ". as $x" + std::to_string(i) + " | ";
    text += ".; ";
  }
  text += "f0 | f1 | f2 | f3";
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(helper_compile(text + " ").ok());
  const auto took = std::chrono::steady_clock::now() - begin;
  Limits limits;
  limits.deadline = std::chrono::duration_cast<Duration>(took / 2);
  auto outputs = helper_run(text, 1, limits);
  if (!outputs.ok()) FAIL(outputs.error().render());
  CHECK(*outputs == std::vector<Json>{1});
}

TEST_CASE("a helper that was killed is replaced") {
  run("1");
  ::kill(helper_pid(), SIGKILL);
  // Its end may or may not have been seen yet: one failed call at most.
  auto first = helper_run("1", nullptr, kPatient);
  if (!first.ok()) CHECK(first.error().kind() == ErrorKind::too_large);
  CHECK(run("3") == std::vector<Json>{3});
}

TEST_CASE("what ends the helper is named, and is no lack of memory where it is not") {
  const Error asked = ended_by(SIGTERM);
  CHECK(asked.kind() == ErrorKind::unavailable);
  CHECK(asked.message() == "the jq process ended: somebody sent it SIGTERM");
  const Error crashed = ended_by(SIGSEGV);
  CHECK(crashed.kind() == ErrorKind::too_large);
  CHECK(crashed.message() == "the jq process ended: the program makes libjq crash (SIGSEGV)");
  const Error killed = ended_by(SIGKILL);
  CHECK(killed.kind() == ErrorKind::too_large);
  CHECK(killed.message() ==
        "the jq process ended: it was killed (SIGKILL), as what uses too much memory is");
  CHECK(ended_by(SIGABRT).message() ==
        "the jq process ended: the program uses too much memory, or meets a fault of libjq "
        "(SIGABRT)");
  CHECK(helper_ended(7 << 8).message() == "the jq process ended: exit code 7");
  CHECK(helper_ended(std::nullopt).kind() == ErrorKind::unavailable);
  CHECK(run("1") == std::vector<Json>{1});
}

TEST_CASE("^C in a terminal, which reaches our process group, does not end the helper") {
  run("1");
  const int pid = helper_pid();
  CHECK(::getpgid(pid) == pid);
  CHECK(::getpgid(pid) != ::getpgrp());
}

TEST_CASE("the helper has no environment, no open files and no terminal") {
  const int leak = ::open("/dev/zero", O_RDONLY);  // without CLOEXEC
  REQUIRE(leak >= 0);
  ::setenv("KW_SECRET", "s3cret", 1);
  Limits limits;
  limits.deadline = Duration(50);
  CHECK_FALSE(helper_run("def f: f; f", nullptr, limits).ok());  // the next one is a new process
  CHECK(run("env") == std::vector<Json>{Json{{"HOME", "/nonexistent"}}});
  CHECK(run("$ENV.KW_SECRET") == std::vector<Json>{nullptr});
  std::vector<std::string> targets;
  if (::geteuid() == 0) {
    for (const auto& entry : std::filesystem::directory_iterator(proc("fd"))) {
      targets.push_back(std::filesystem::read_symlink(entry.path()).string());
    }
    std::size_t sockets = 0;
    for (const std::string& target : targets) {
      if (target.starts_with("socket:")) {
        ++sockets;
      } else {
        CHECK(target == "/dev/null");
      }
    }
    CHECK(sockets == 1);
    CHECK(targets.size() == 4);
  }
  ::close(leak);
  ::unsetenv("KW_SECRET");
}

TEST_CASE("inputs, debug output and halting do no harm even when libjq is asked directly") {
  CHECK(run("try input catch \"none\"") == std::vector<Json>{"none"});
  CHECK(run("[inputs]") == std::vector<Json>{Json::array()});
  CHECK(run("1|debug") == std::vector<Json>{1});
  static_cast<void>(helper_run("halt", nullptr, kPatient));
  static_cast<void>(helper_run("\"x\"|halt_error", nullptr, kPatient));
  CHECK(run("4") == std::vector<Json>{4});
}

TEST_CASE("signal handlers and blocked signals do not reach the helper") {
  Limits limits;
  limits.deadline = Duration(50);
  CHECK_FALSE(helper_run("def f: f; f", nullptr, limits).ok());
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  run("1");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  auto status = base::read_file(proc("status"), 100000);
  REQUIRE(status.ok());
  CHECK(status->find("SigBlk:\t0000000000000000") != std::string::npos);
  CHECK(status->find("SigCgt:\t0000000000000000") != std::string::npos);
  CHECK(status->find("Name:\tkubewatch-jq") != std::string::npos);
}

TEST_CASE("large inputs and outputs pass through the socket") {
  const std::string text(3U << 20U, 'x');
  Limits limits;
  limits.max_output_bytes = 8U << 20U;
  limits.deadline = kPatient.deadline;
  auto outputs = helper_run(".,length", text, limits);
  REQUIRE(outputs.ok());
  CHECK((*outputs)[0] == Json(text));
  CHECK((*outputs)[1] == Json(text.size()));
}

TEST_CASE("a program that eats memory ends in an error") {
#if defined(__SANITIZE_ADDRESS__)
  SUCCEED("the address sanitizer owns the address space: no limit to test");
#else
  Limits limits;
  limits.deadline = kPatient.deadline;
  auto result =
      helper_run("reduce range(40) as $i (\"xxxxxxxxxxxxxxxx\"; . + .)|length", nullptr, limits);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().kind() == ErrorKind::too_large);
  CHECK(run("5") == std::vector<Json>{5});
#endif
}
