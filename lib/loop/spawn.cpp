// What runs in the child shares our memory, perhaps while we go on: it is one function, without
// sanitizers, that makes system calls past libc and reports through the struct it is given.
#include "loop/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "loop/exec_error.hpp"
#include "loop/raw_syscall.hpp"

namespace kubewatch::loop {

namespace {

constexpr rlim_t kOpenFiles = 1024;
constexpr std::size_t kStackBytes = 16U << 10U;
constexpr int kKernelSignals = 64;
constexpr std::size_t kKeptStates = 64;

struct KernelSigaction {
  void (*handler)(int) = nullptr;  // SIG_DFL
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  std::uint64_t mask = 0;
};

struct Limit {
  int resource = 0;
  rlimit value{};
};

enum class Stage { none, limits, directory, descriptors, exec };

struct Child {
  pid_t parent = -1;
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  int input = -1;
  int output = -1;
  int errors = -1;
  bool keep_input = false;
  bool own_group = true;
  Limit limits[4] = {};  // std::array's operator[] would be instrumented code in the child
  std::size_t limit_count = 0;
  const int* reset_signals = nullptr;
  std::size_t reset_signal_count = 0;
  // Written by the child, read by us after it.
  volatile Stage failed_stage = Stage::none;
  volatile int failed_errno = 0;
};

KW_CHILD_CODE int fail_child(Child* child, Stage stage, long answer) {
  child->failed_errno = static_cast<int>(-answer);
  child->failed_stage = stage;
  raw_syscall(SYS_exit_group, 127);
  return 127;
}

KW_CHILD_CODE void reset_signals(const Child* child) {
  KernelSigaction by_default;
  for (std::size_t i = 0; i < child->reset_signal_count; ++i) {
    raw_syscall(SYS_rt_sigaction, child->reset_signals[i], raw_address(&by_default), 0,
                sizeof(by_default.mask));
  }
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, raw_address(&none), 0, sizeof(none));
}

KW_CHILD_CODE int run_child(void* argument) {
  auto* child = static_cast<Child*>(argument);
  if (child->own_group) raw_syscall(SYS_setpgid, 0, 0);
  // A hook does not go on when we are killed, nor begin when we were before it could say so.
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (raw_syscall(SYS_getppid) != child->parent) raw_syscall(SYS_exit_group, 127);
  for (std::size_t i = 0; i < child->limit_count; ++i) {
    const Limit& limit = child->limits[i];
    const long set = raw_syscall(SYS_prlimit64, 0, limit.resource, raw_address(&limit.value), 0);
    if (set != 0) return fail_child(child, Stage::limits, set);
  }
  if (child->directory != nullptr) {
    const long changed = raw_syscall(SYS_chdir, raw_address(child->directory));
    if (changed != 0) return fail_child(child, Stage::directory, changed);
  }
  long moved = raw_syscall(SYS_dup3, child->input, 0, 0);
  if (moved >= 0) moved = raw_syscall(SYS_dup3, child->output, 1, 0);
  if (moved >= 0) moved = raw_syscall(SYS_dup3, child->errors, 2, 0);
  if (moved >= 0 && child->keep_input) moved = raw_syscall(SYS_dup3, 0, kInputFd, 0);
  if (moved < 0) return fail_child(child, Stage::descriptors, moved);
  const unsigned first = child->keep_input ? kInputFd + 1 : kInputFd;
  raw_syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC);
  reset_signals(child);
  const long refused = raw_syscall(SYS_execve, raw_address(child->path), raw_address(child->argv),
                                   raw_address(child->environment));
  return fail_child(child, Stage::exec, refused);
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Those that programs ignore, ours among them, at any time.
constexpr std::array kSometimesIgnored = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                          SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGTSTP,
                                          SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ};

bool is_ignored(int number) {
  KernelSigaction now;
  raw_syscall(SYS_rt_sigaction, number, 0, raw_address(&now), sizeof(now.mask));
  return now.handler == reinterpret_cast<void (*)(int)>(SIG_IGN);
}

// What the child sets back by itself where the kernel takes the handlers from it: what is ignored
// stays so, over execve as well. To ask for all 64 costs each child more than all the rest of this,
// so it is asked once what we were started with.
const std::vector<int>& signals_to_reset() {
  static const std::vector<int> numbers = [] {
    std::vector<int> out(kSometimesIgnored.begin(), kSometimesIgnored.end());
    for (int number = 1; number <= kKernelSignals; ++number) {
      const bool known = std::find(out.begin(), out.end(), number) != out.end();
      if (!known && is_ignored(number)) out.push_back(number);
    }
    return out;
  }();
  return numbers;
}

const std::vector<int>& all_signals() {
  static const std::vector<int> numbers = [] {
    std::vector<int> out(kKernelSignals);
    std::iota(out.begin(), out.end(), 1);
    return out;
  }();
  return numbers;
}

void add_limit(Child& child, int resource, std::uint64_t soft, std::uint64_t hard) {
  Limit& limit = child.limits[child.limit_count];
  rlimit ours{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &ours);
  limit.resource = resource;
  // Above our own hard limit it would be refused; that one holds then anyway.
  limit.value.rlim_max = std::min<rlim_t>(hard, ours.rlim_max);
  limit.value.rlim_cur = std::min<rlim_t>(soft, limit.value.rlim_max);
  ++child.limit_count;
}

void set_limits(Child& child, const ProcessLimits& limits) {
  // We may have raised ours for a thousand watches; select() in a child breaks above 1024.
  add_limit(child, RLIMIT_NOFILE, kOpenFiles, RLIM_INFINITY);
  if (limits.memory_bytes)
    add_limit(child, RLIMIT_DATA, *limits.memory_bytes, *limits.memory_bytes);
  // SIGXCPU first, SIGKILL a second later.
  if (limits.cpu_seconds)
    add_limit(child, RLIMIT_CPU, *limits.cpu_seconds, *limits.cpu_seconds + 1);
  if (limits.file_bytes) add_limit(child, RLIMIT_FSIZE, *limits.file_bytes, *limits.file_bytes);
}

Error explain(const Child& child) {
  const int number = child.failed_errno;
  const std::string directory = child.directory == nullptr ? "" : child.directory;
  if (child.failed_stage == Stage::directory) return explain_chdir(directory, number);
  Error error = explain_exec(child.path, directory, number);
  if (child.failed_stage == Stage::limits) error.add_context("setting resource limits");
  if (child.failed_stage == Stage::descriptors) error.add_context("setting up stdin and stdout");
  return error;
}

// Low numbers would be overwritten in the child before they are used.
Result<Fd> above_standard(int fd, const std::string& path) {
  if (fd > kInputFd) return Fd();
  Fd moved(fcntl(fd, F_DUPFD_CLOEXEC, kInputFd + 1));
  if (!moved) return explain_exec(path, "", errno);
  return moved;
}

}  // namespace

class SpawnState {
 public:
  Child child;
  std::vector<char*> argv;
  std::vector<char*> environment;
  // Cleared by the kernel when the child leaves our memory: by execve, or its end.
  volatile pid_t in_our_memory = 1;
  alignas(64) std::array<char, kStackBytes> stack;  // NOLINT: nobody reads what nobody wrote
};

namespace {

// With their stacks they are large for malloc, which tidies up all its small pieces at each.
std::vector<SpawnState*>& kept_states() {
  static auto& kept = *new std::vector<SpawnState*>();  // a child may be ended after main
  return kept;
}

SpawnStatePtr take_state() {
  std::vector<SpawnState*>& kept = kept_states();
  if (kept.empty()) return SpawnStatePtr(new SpawnState);
  SpawnStatePtr state(kept.back());
  kept.pop_back();
  state->child = Child();
  state->in_our_memory = 1;
  return state;
}

// Without handlers: none of ours can run in the child, and it need not take each away. And, where
// a cgroup is asked for, born in it and not moved into it: nothing of it ever runs outside, what
// the kernel refuses is our errno before there is a child, and moving takes a lock that waits for
// all processors.
int clone_without_handlers(std::optional<int> cgroup, std::uint64_t flags, SpawnState& state,
                           int& pidfd) {
  const auto address = [](const volatile void* pointer) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
  };
  clone_args arguments{};
  arguments.flags = flags | CLONE_CLEAR_SIGHAND | (cgroup ? CLONE_INTO_CGROUP : 0);
  arguments.pidfd = address(&pidfd);
  arguments.child_tid = address(&state.in_our_memory);
  arguments.exit_signal = SIGCHLD;
  arguments.stack = address(state.stack.data());
  arguments.stack_size = state.stack.size();
  arguments.cgroup = static_cast<std::uint64_t>(cgroup.value_or(0));
  const long answer =
      raw_clone3(SYS_clone3, &arguments, sizeof(arguments), run_child, &state.child);
  if (answer < 0) errno = static_cast<int>(-answer);
  return answer < 0 ? -1 : static_cast<int>(answer);
}

// Older than Linux 5.7, or where clone3 is forbidden (seccomp cannot look into its arguments).
int clone_with_handlers(int flags, SpawnState& state, int& pidfd) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A handler of ours must not run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int pid = clone(run_child, state.stack.data() + state.stack.size(), flags | SIGCHLD,
                        &state.child, &pidfd, nullptr, &state.in_our_memory);
  const int clone_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = clone_errno;
  return pid;
}

}  // namespace

// It asks for a cgroup that cannot be: whoever gets as far as to say so can do it, and no process
// is made. What knows that flag knows the older CLONE_CLEAR_SIGHAND as well.
bool can_spawn_in_cgroup() {
  static const bool can = [] {
    SpawnState state;
    int pidfd = -1;
    return clone_without_handlers(INT_MAX, CLONE_VM | CLONE_VFORK, state, pidfd) < 0 &&
           errno == EBADF;
  }();
  return can;
}

void KeepSpawnState::operator()(SpawnState* state) const {
  std::vector<SpawnState*>& kept = kept_states();
  // A child that was not waited for and does not die (its program lies on a disk that does not
  // answer) uses it still, whenever it goes on: left to it.
  if (state->in_our_memory != 0) return;
  if (kept.size() < kKeptStates) return kept.push_back(state);
  delete state;
}

Spawned::Spawned() = default;
Spawned::Spawned(Spawned&&) noexcept = default;
Spawned& Spawned::operator=(Spawned&&) noexcept = default;
Spawned::~Spawned() = default;

bool Spawned::begun() const {
  return state == nullptr || state->in_our_memory == 0;
}

std::optional<Error> Spawned::refusal() const {
  if (state == nullptr || state->child.failed_stage == Stage::none) return std::nullopt;
  return explain(state->child);
}

Result<Spawned> spawn(const SpawnRequest& request) {
  const std::string& path = request.argv[0];
  KW_ASSIGN(const Fd input, above_standard(request.input, path));
  KW_ASSIGN(const Fd output, above_standard(request.output, path));
  KW_ASSIGN(const Fd errors, above_standard(request.errors, path));
  Spawned out;
  out.state = take_state();
  SpawnState& state = *out.state;
  state.argv = pointers_to(request.argv);
  state.environment = pointers_to(request.environment);
  Child& child = state.child;
  child.parent = getpid();
  child.path = path.c_str();
  child.argv = state.argv.data();
  child.environment = state.environment.data();
  child.directory = request.directory.empty() ? nullptr : request.directory.c_str();
  child.input = input ? input.get() : request.input;
  child.output = output ? output.get() : request.output;
  child.errors = errors ? errors.get() : request.errors;
  child.keep_input = request.keep_input;
  child.own_group = request.own_group;
  set_limits(child, request.limits);
  const bool in_cgroup = request.cgroup >= 0;
  const bool without_handlers = in_cgroup || can_spawn_in_cgroup();
  const std::vector<int>& reset = without_handlers ? signals_to_reset() : all_signals();
  child.reset_signals = reset.data();
  child.reset_signal_count = reset.size();
  int pidfd = -1;
  // Whatever the kernel kills for want of memory, it kills all that share its memory as well: until
  // it is its program, we. It spares a child whose parent waits for it, and no other.
  const int waiting = request.wait || in_cgroup ? CLONE_VFORK : 0;
  const int flags = CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | waiting;
  const auto cgroup = in_cgroup ? std::optional(request.cgroup) : std::nullopt;
  const int pid = without_handlers ? clone_without_handlers(
                                         cgroup, static_cast<std::uint64_t>(flags), state, pidfd)
                                   : clone_with_handlers(flags, state, pidfd);
  const int clone_errno = errno;
  if (pid < 0) state.in_our_memory = 0;  // there is nobody in it
  if (pid < 0 && in_cgroup) {
    return Error(ErrorKind::unavailable,
                 "cannot start " + path + " in its cgroup: " + std::strerror(clone_errno));
  }
  if (pid < 0) return explain_exec(path, request.directory, clone_errno);
  out.pid = pid;
  out.pidfd = Fd(pidfd);
  if (!request.wait) return out;
  if (auto refused = out.refusal()) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::move(*refused);
  }
  out.state = nullptr;
  return out;
}

}  // namespace kubewatch::loop
