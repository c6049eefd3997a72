// Who is a child of ours: by the kernel's list of them, or, where it was built without
// (CONFIG_PROC_CHILDREN), by a scan of /proc.
#include "loop/orphans.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "loop/guardian.hpp"
#include "loop/memfd.hpp"
#include "loop/proc_files.hpp"
#include "loop/process.hpp"
#include "loop/process_table.hpp"

namespace kubewatch::loop {

namespace {

constexpr const char* kMarkName = "KUBEWATCH_PROCESS_MARK=";
// Of whoever may leave others behind.
constexpr const char* kSparedMarkName = "KUBEWATCH_SPARED_MARK=";
constexpr std::size_t kMaxEnvironment = 4U << 20U;
// Each round can only meet the children of what the round before killed.
constexpr int kMaxRounds = 16;
constexpr int kOrphanPatienceMs = 200;
// After so long the process numbers may have gone round.
constexpr Duration kLongLife{30000};

struct Leader {
  std::string mark;
  ReapedOrphans reaped;
};

struct State {
  bool subreaper = false;
  std::uint64_t marks = 0;
  std::unordered_map<pid_t, Leader> leaders;
  std::unordered_map<pid_t, pid_t>
      orphans;                       // that were asked for, until we reap them: their leaders
  std::unordered_set<pid_t> spared;  // of our own group, until we reap them
};

State& state() {
  static State instance;
  return instance;
}

std::string environment_of(pid_t pid) {
  return '\0' + read_proc(pid, "environ", kMaxEnvironment);
}

// The newest process number given out, or 0.
pid_t last_process() {
  const Fd fd(open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  if (!fd || read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  const std::string_view line(text.data());
  const std::size_t space = line.rfind(' ');
  return space == line.npos ? 0 : static_cast<pid_t>(std::atoi(text.data() + space));
}

// Our children; absent where the kernel does not tell. Nobody but us takes one away (a dead one
// stays until we reap it), so the list is whole although others may be added while it is read.
std::optional<std::vector<pid_t>> own_children() {
  // Kept open: this is asked after each child, and to find the file costs more than to read it.
  static Fd file;
  static pid_t of = -1;
  if (of != getpid()) {
    of = getpid();
    const std::string path = "/proc/self/task/" + std::to_string(of) + "/children";
    file = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> chunk{};
  while (true) {
    const ssize_t got =
        pread(file.get(), chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  std::vector<pid_t> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(at, end, pid);
    if (parsed.ec == std::errc()) out.push_back(pid);
    at = parsed.ec == std::errc() ? parsed.ptr : at + 1;
  }
  return out;
}

// False only when it is certain that every child of ours is a leader with its own Process.
bool may_have_orphans() {
  siginfo_t info{};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) return false;
  return true;
}

std::chrono::nanoseconds time_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

void reap(pid_t pid, bool patient) {
  if (patient) {
    const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd wait{pidfd.get(), POLLIN, 0};
    if (pidfd) poll(&wait, 1, kOrphanPatienceMs);
  }
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, WNOHANG, &usage) != pid) return;
  state().spared.erase(pid);
  const auto orphan = state().orphans.find(pid);
  if (orphan == state().orphans.end()) return;
  const auto leader = state().leaders.find(orphan->second);
  if (leader != state().leaders.end()) {
    ReapedOrphans& reaped = leader->second.reaped;
    reaped.cpu += time_of(usage.ru_utime) + time_of(usage.ru_stime);
    reaped.cpu_limit = reaped.cpu_limit || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
  }
  state().orphans.erase(orphan);
}

// Reaps those of `candidates` that are our children and have ended. The others that are: their
// numbers cannot mean other processes, as nobody but us takes them away.
std::vector<ProcessRow> living_orphans(const std::vector<pid_t>& candidates) {
  const pid_t self = getpid();
  const pid_t group = getpgrp();
  std::vector<ProcessRow> out;
  for (const pid_t pid : candidates) {
    if (pid == self || state().leaders.count(pid) != 0) continue;
    auto row = process_row(pid);
    if (!row || row->parent != self) continue;
    if (row->state != 'Z') {
      out.push_back(std::move(*row));
    } else if (row->group != group || state().spared.count(pid) != 0) {
      reap(pid, false);
    }
  }
  return out;
}

struct Sweep {
  const std::string& mark;
  const Birth& leader;
  Duration lifetime;
  pid_t session = getsid(0);

  bool is_left_over(const ProcessRow& child) const {
    if (child.group == leader.leader) return true;
    const std::string environment = environment_of(child.pid);
    if (environment.find('\0' + mark + '\0') != std::string::npos) return true;
    // A child of ours in another session was not forked by us, but need not be the leader's: a
    // container's first process adopts what was started beside it.
    if (child.session == session || !state().leaders.empty() ||
        !leader.is_before(child.start, child.pid) ||
        environment.find(std::string(1, '\0') + kSparedMarkName) != std::string::npos) {
      return false;
    }
    base::log_info("killing a process that left the group and the environment of its hook",
                   {{"pid", std::to_string(child.pid)}, {"name", child.name}});
    return true;
  }

  std::vector<pid_t> candidates() const {
    if (auto children = own_children()) return std::move(*children);
    // Descendants have higher numbers than their leader until the numbers go round.
    const bool all =
        state().leaders.empty() || lifetime > kLongLife || last_process() < leader.leader;
    return pids_from(all ? 0 : leader.leader);
  }

  // True when it killed something, whose children may now be ours.
  bool round() const {
    std::vector<pid_t> killed;
    for (const ProcessRow& child : living_orphans(candidates())) {
      if (is_left_over(child) && kill(child.pid, SIGKILL) == 0) killed.push_back(child.pid);
    }
    for (const pid_t pid : killed) reap(pid, true);
    return !killed.empty();
  }
};

}  // namespace

void become_subreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) {
    state().subreaper = true;
  } else {
    base::log_warn("cannot become the reaper of processes that leave their hook");
  }
}

std::uint64_t ticks_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  static const auto kTicksPerSecond = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * kTicksPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec) * kTicksPerSecond / 1'000'000'000U;
}

std::string next_mark(bool leaves_others) {
  if (!state().subreaper) return {};
  return (leaves_others ? kSparedMarkName : kMarkName) + std::to_string(getpid()) + "-" +
         std::to_string(++state().marks);
}

void register_leader(pid_t pid, const std::string& mark, bool own_group) {
  state().leaders[pid] = {mark, {}};
  if (own_group) guard_group(pid);
}
void unregister_leader(pid_t pid) {
  state().leaders.erase(pid);
  std::erase_if(state().orphans, [pid](const auto& orphan) { return orphan.second == pid; });
  unguard_group(pid);
}

pid_t leader_of_orphan(pid_t pid) {
  if (!state().subreaper || state().leaders.count(pid) != 0) return 0;
  // We alone reap it: until then the number is its own.
  const auto known = state().orphans.find(pid);
  if (known != state().orphans.end()) return known->second;
  const std::string environment = environment_of(pid);
  const std::size_t at = environment.find(std::string(1, '\0') + kMarkName);
  if (at == std::string::npos) return 0;
  const std::string_view mark = environment.c_str() + at + 1;
  for (const auto& [number, leader] : state().leaders) {
    if (leader.mark != mark) continue;
    state().orphans[pid] = number;
    return number;
  }
  return 0;
}

ReapedOrphans reaped_orphans(pid_t leader) {
  const auto found = state().leaders.find(leader);
  return found == state().leaders.end() ? ReapedOrphans{} : found->second.reaped;
}

bool ended_by_cpu_limit(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child && info.si_code == CLD_KILLED && info.si_status == SIGXCPU;
}

void end_marked_by(pid_t marker) {
  const std::string mark = '\0' + (kMarkName + std::to_string(marker)) + '-';
  for (int i = 0; i < kMaxRounds; ++i) {
    bool any = false;
    for (const pid_t pid : pids_from(1)) {
      if (pid == getpid()) continue;
      const std::string environment = environment_of(pid);
      if (environment.find(mark) != std::string::npos && kill(pid, SIGKILL) == 0) any = true;
    }
    if (!any) return;
  }
}

void end_descendants(const std::string& mark, const Birth& leader, Duration lifetime) {
  if (mark.empty() || !may_have_orphans()) return;
  const Sweep sweep{mark, leader, lifetime};
  for (int i = 0; i < kMaxRounds && sweep.round(); ++i) {
  }
}

void reap_orphans() {
  if (!state().subreaper || !may_have_orphans()) return;
  const auto children = own_children();
  const std::string mark = '\0' + (kSparedMarkName + std::to_string(getpid())) + '-';
  const pid_t group = getpgrp();
  for (const ProcessRow& child : living_orphans(children ? *children : pids_from(0))) {
    // Once it has ended its environment is gone.
    if (child.group == group && environment_of(child.pid).find(mark) != std::string::npos) {
      state().spared.insert(child.pid);
    }
  }
}

}  // namespace kubewatch::loop
