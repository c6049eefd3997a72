// What ends a process where nobody hears signals. Real signals, in forked processes; the first of a
// PID namespace where one may be made.
#include "loop/ending_signals.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "support/catch.hpp"

using namespace kubewatch;

namespace {

constexpr int kNotAllowed = 77;

[[noreturn]] void be_signalled(int number, const std::function<void()>& first) {
  ::signal(number, SIG_DFL);
  first();
  ::raise(number);
  ::_exit(0);
}

// 128+N, however it ended by signal N.
int end_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int end_as_first_process(int number, const std::function<void()>& first) {
  const pid_t outside = ::fork();
  if (outside == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      ::_exit(kNotAllowed);
    }
    const pid_t inside = ::fork();
    if (inside < 0) ::_exit(kNotAllowed);
    if (inside == 0) be_signalled(number, first);
    int status = 0;
    ::waitpid(inside, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  return end_of(outside);
}

}  // namespace

TEST_CASE("the first process of a container ends by the signals that end any other") {
  if (end_as_first_process(SIGTERM, [] {}) == kNotAllowed) {
    WARN("not checked: no PID namespace may be made here");
    return;
  }
  // What it is all about: the kernel keeps them from it.
  CHECK(end_as_first_process(SIGTERM, [] {}) == 0);
  for (const int number : loop::kEndingSignals) {
    CHECK(end_as_first_process(number, loop::end_by_signals_as_first_process) == 128 + number);
    CHECK(end_as_first_process(number, [=] { loop::restore_default_handler(number); }) ==
          128 + number);
    CHECK(end_as_first_process(number, [=] {
            loop::end_by_signals_as_first_process();
            loop::end_by_signal(number);
          }) == 128 + number);
  }
  // Under nohup it stays as it was.
  CHECK(end_as_first_process(SIGHUP, [] {
          ::signal(SIGHUP, SIG_IGN);
          loop::end_by_signals_as_first_process();
        }) == 0);
}

TEST_CASE("any other process is ended by the kernel") {
  for (const int number : loop::kEndingSignals) {
    const pid_t child = ::fork();
    if (child == 0) {
      be_signalled(number, [=] {
        loop::end_by_signals_as_first_process();
        struct sigaction action {};
        ::sigaction(number, nullptr, &action);
        if (action.sa_handler != SIG_DFL || !loop::is_default_handler(SIG_DFL)) ::_exit(1);
      });
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
  }
  CHECK_FALSE(loop::is_default_handler(SIG_IGN));
}
