// A forked process, a pipe that closes when we end, and a table in shared memory of the groups to
// end then: first by TERM, then by KILL, then whoever left its group but carries our mark.
#include "loop/guardian.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>

#include "loop/orphans.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::size_t kSlots = 4096;
constexpr int kGraceSteps = 20;  // of 100 ms

struct Table {
  std::array<std::atomic<pid_t>, kSlots> groups{};
};

// Shared with the guardian; null without one.
Table* table = nullptr;

void keep_only(int fd) {
  const int none = open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) dup2(none, standard);
  constexpr int kKept = 3;
  if (fd != kKept) dup2(fd, kKept);
  syscall(SYS_close_range, kKept + 1, ~0U, 0);
}

// True while any group is left.
bool signal_groups(int number) {
  bool any = false;
  for (const auto& group : table->groups) {
    const pid_t leader = group.load();
    if (leader > 1 && kill(-leader, number) == 0) any = true;
  }
  return any;
}

[[noreturn]] void guard(int pipe, pid_t guarded, const std::function<void()>& last) {
  setpgid(0, 0);  // not reached by ^C
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
  keep_only(pipe);
  // Whoever started us may know its descendants by a mark in their environment, and end them when
  // we end: not this one.
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::memset(*entry, 0, std::strlen(*entry));
  }
  prctl(PR_SET_NAME, "kubewatch-guard", 0, 0, 0);
  char byte = 0;
  while (read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  bool any = signal_groups(SIGTERM);
  for (int i = 0; any && i < kGraceSteps; ++i) {
    const timespec step{0, 100'000'000};
    nanosleep(&step, nullptr);
    any = signal_groups(0);
  }
  signal_groups(SIGKILL);
  end_marked_by(guarded);
  if (last) last();
  _exit(0);
}

// Not as our child: who waits for children must not meet it.
bool fork_twice(int reading, int writing, const std::function<void()>& last) {
  const pid_t guarded = getpid();
  int subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  const pid_t middle = fork();
  if (middle == 0) {
    close(writing);
    if (fork() == 0) guard(reading, guarded, last);
    _exit(0);
  }
  while (middle > 0 && waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
  }
  prctl(PR_SET_CHILD_SUBREAPER, subreaper, 0, 0, 0);
  return middle > 0;
}

}  // namespace

void start_guardian(std::function<void()> last) {
  if (table != nullptr || getpid() == 1) return;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  void* memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) table = new (memory) Table();
  if (table != nullptr && !fork_twice(ends[0], ends[1], last)) table = nullptr;
  close(ends[0]);
  // Our end stays open as long as we live.
  if (table == nullptr) close(ends[1]);
}

void guard_group(pid_t leader) {
  if (table == nullptr) return;
  for (auto& group : table->groups) {
    pid_t free = 0;
    if (group.compare_exchange_strong(free, leader)) return;
  }
}

void unguard_group(pid_t leader) {
  if (table == nullptr) return;
  for (auto& group : table->groups) {
    pid_t ours = leader;
    if (group.compare_exchange_strong(ours, 0)) return;
  }
}

}  // namespace kubewatch::loop
