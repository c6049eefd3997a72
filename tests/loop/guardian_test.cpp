// What a process leaves behind that is killed before it can end its children.
#include "loop/guardian.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdlib>

#include "loop/memfd.hpp"
#include "process_fixture.hpp"

using namespace kubewatch::loop;

namespace {

// Runs in a process of its own, which ends by SIGKILL once the script has written "ready".
[[noreturn]] void run_and_be_killed(const std::string& script, const std::string& ready,
                                    std::function<void()> last = nullptr) {
  start_guardian(std::move(last));
  become_subreaper();
  EventLoop loop;
  auto process = Process::start(loop, shell(script), {}, {});
  if (!process.ok()) _exit(1);
  Timer tick;
  const Callback look = [&] {
    if (access(ready.c_str(), F_OK) == 0) ::kill(getpid(), SIGKILL);
    tick = loop.after(kubewatch::Duration{5}, look);
  };
  look();
  loop.run_until([] { return false; }, kubewatch::kLimit);
  _exit(1);
}

bool dies(int pid) {
  const Fd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return errno == ESRCH;
  pollfd wait{fd.get(), POLLIN, 0};
  return poll(&wait, 1, 20000) == 1;
}

int number_in(const TempDir& dir, const std::string& name) {
  std::ifstream file(dir.path + "/" + name);
  int out = 0;
  file >> out;
  return out;
}

}  // namespace

TEST_CASE(
    "children of a process that was killed do not outlive it, whatever they ignore or leave") {
  const TempDir dir;
  const std::string in = "cd " + dir.path + "; trap '' TERM; ";
  const std::string script =
      in +
      "sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 600; done' & "
      "setsid sh -c 'trap \"\" TERM; echo $$ > daemon; while :; do sleep "
      "600; done' & echo $$ > leader; "
      "while [ ! -s child ] || [ ! -s daemon ]; do sleep 0.01; done; "
      "echo x > ready; wait";
  const pid_t controller = fork();
  if (controller == 0) run_and_be_killed(script, dir.path + "/ready");
  int status = 0;
  REQUIRE(waitpid(controller, &status, 0) == controller);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  for (const char* name : {"leader", "child", "daemon"}) {
    INFO(name);
    const int pid = number_in(dir, name);
    REQUIRE(pid > 1);
    CHECK(dies(pid));
  }
}

TEST_CASE("what a guardian is asked to do last, it does when the children are gone") {
  const TempDir dir;
  const std::string script = "trap '' TERM; cd " + dir.path +
                             "; echo $$ > leader.new; mv leader.new ready; while :; do sleep 600; "
                             "done";
  const pid_t controller = fork();
  if (controller == 0) {
    run_and_be_killed(script, dir.path + "/ready", [&dir] {
      const bool gone = ::kill(number_in(dir, "ready"), 0) != 0 && errno == ESRCH;
      dir.file("last.new", gone ? "gone" : "there", 0644);
      ::rename((dir.path + "/last.new").c_str(), (dir.path + "/last").c_str());
    });
  }
  int status = 0;
  REQUIRE(waitpid(controller, &status, 0) == controller);
  REQUIRE(WIFSIGNALED(status));
  EventLoop loop;
  Timer tick;
  const Callback look = [&] { tick = loop.after(kubewatch::Duration{5}, look); };
  look();
  const auto done = [&] { return access((dir.path + "/last").c_str(), F_OK) == 0; };
  REQUIRE(loop.run_until(done, kubewatch::kLimit));
  std::string word;
  std::ifstream(dir.path + "/last") >> word;
  // By then it has got KILL; whoever adopts it may not have waited for it yet.
  CHECK((word == "gone" || !is_alive(number_in(dir, "ready"))));
}
