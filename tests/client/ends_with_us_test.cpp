// That the program of a login ends with the process it was started for. Real signals, in forked
// processes.
#include "client/ends_with_us.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "support/catch.hpp"

using namespace kubewatch;

namespace {

constexpr int kPatienceMs = 20'000;

// A process group of its own that waits for a signal, and keeps the pipe open until then.
pid_t start_login() {
  const pid_t login = ::fork();
  if (login == 0) {
    ::setpgid(0, 0);
    for (;;) ::pause();
  }
  ::setpgid(login, login);
  return login;
}

// What exec_source.cpp does, with the signal at the worst moment. Says in the pipe whom it started.
[[noreturn]] void log_in_and_be_signalled(int number, int out) {
  ::signal(number, SIG_DFL);
  std::optional<client::EndsWithUs> ends;
  {
    const client::HeldSignals held;
    const pid_t login = start_login();
    if (::write(out, &login, sizeof(login)) != sizeof(login)) ::_exit(2);
    ::raise(number);
    ends.emplace(login);
  }
  ::_exit(0);
}

}  // namespace

TEST_CASE("a signal that comes while a login's program is started ends it as well") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t user = ::fork();
    if (user == 0) log_in_and_be_signalled(number, pipe[1]);
    ::close(pipe[1]);
    pid_t login = 0;
    REQUIRE(::read(pipe[0], &login, sizeof(login)) == sizeof(login));
    int status = 0;
    REQUIRE(::waitpid(user, &status, 0) == user);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    pollfd closed{pipe[0], POLLIN, 0};
    CHECK(::poll(&closed, 1, kPatienceMs) == 1);
    if ((closed.revents & POLLHUP) == 0) ::kill(-login, SIGKILL);
    ::close(pipe[0]);
  }
}
