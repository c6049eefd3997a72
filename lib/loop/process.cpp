// The life of one child: pipes, deadlines, exit, what it left behind. The leader stays a zombie
// until its group was killed, so that the group's number cannot belong to a stranger.
#include "loop/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "loop/group_watch.hpp"
#include "loop/lines.hpp"
#include "loop/memfd.hpp"
#include "loop/orphans.hpp"
#include "loop/pipe_writer.hpp"
#include "loop/spawn.hpp"

namespace kubewatch::loop {

namespace {

constexpr std::size_t kReadSize = 64U << 10U;
// Reads of one pipe in one turn: a child that prints 1 GB gets its turn like everybody else.
constexpr int kReadsPerTurn = 4;
constexpr int kDeathPatienceMs = 1000;

struct Pipe {
  Fd ours;
  Fd theirs;
};

Error no_pipe() {
  return Error(ErrorKind::unavailable,
               std::string("cannot start a child: no pipe: ") + std::strerror(errno));
}

// Towards the child.
Result<Pipe> make_input_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return no_pipe();
  return Pipe{Fd(ends[1]), Fd(ends[0])};
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return no_pipe();
  Pipe out{Fd(ends[0]), Fd(ends[1])};
  // Only our end: the child's would surprise programs that do not expect it.
  if (fcntl(out.ours.get(), F_SETFL, O_RDONLY | O_NONBLOCK) != 0) return no_pipe();
  return out;
}

// Whoever writes there reads there as well, so that no write is a SIGPIPE after we have gone. We
// are told of the end all the same, when nobody has it open.
void let_outlive_us(Pipe& pipe) {
  const std::string path = "/proc/self/fd/" + std::to_string(pipe.theirs.get());
  Fd both(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (both) pipe.theirs = std::move(both);
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> check(const ProcessOptions& options) {
  if (options.argv.empty() || options.argv[0].empty()) {
    return Error(ErrorKind::invalid, "cannot start a child without a program");
  }
  const std::string& path = options.argv[0];
  for (const std::string& argument : options.argv) {
    if (has_nul(argument)) {
      return Error(ErrorKind::invalid,
                   "cannot run " + path + ": an argument holds a NUL character");
    }
  }
  for (const std::string& entry : options.environment) {
    const std::size_t equals = entry.find('=');
    if (has_nul(entry) || equals == std::string::npos || equals == 0) {
      return Error(ErrorKind::invalid,
                   "cannot run " + path + ": the environment variable " +
                       (equals == std::string::npos ? "" : entry.substr(0, equals) + " ") +
                       "has no name or holds a NUL character");
    }
  }
  const std::string& variable = options.input_path_variable;
  if (has_nul(options.directory) || has_nul(variable) || variable.find('=') != std::string::npos) {
    return Error(ErrorKind::invalid, "cannot run " + path + ": bad folder or variable name");
  }
  return {};
}

}  // namespace

struct Process::Impl {
  Impl(EventLoop& event_loop, ProcessOptions process_options)
      : loop(event_loop),
        options(std::move(process_options)),
        started(loop.now()),
        lines(options.max_stderr_line) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Result<void> launch();
  void watch();
  void signal_group(int number) const;
  void kill();
  void stop_gently();
  void on_timeout();
  bool has_ended() const;
  void on_output();
  void on_errors();
  void on_grace_over();
  void on_exited();
  void on_group_ended();
  void on_drained();
  Result<Fd> make_input();
  bool read_output();
  bool keep_output(std::string_view bytes);
  bool read_errors();
  bool emit(std::string_view line);
  bool finish_lines();
  void finish_if_quiet();
  // `spares`: it ended by itself, and may leave others behind.
  void end_group(bool spares);
  void finish();

  EventLoop& loop;
  ProcessOptions options;
  std::shared_ptr<const std::function<void(std::string_view)>> on_output_call;
  OnStderrLine on_stderr_line;
  OnExit on_exit;
  TimePoint started;
  Spawned spawned;
  pid_t pid = -1;
  std::string mark;
  Birth birth;
  Fd input;  // what a path of ours leads to, until the child is reaped
  Fd output;
  Fd errors;
  // The child's ends, until it has ended: that it closes them wakes nobody then, and its exit alone
  // ends a run, where three calls of the loop would come one after the other while it dies. That
  // costs two descriptors for each child that runs.
  Fd output_end;
  Fd errors_end;
  std::optional<PipeWriter> writer;
  LineSplitter lines;
  ProcessExit result;
  bool exited = false;  // the leader is a zombie, or reaped
  bool reaped = false;
  bool stopping = false;  // TERM was sent
  bool killed = false;    // by kill() or for what it printed
  bool grace_over = false;
  std::unique_ptr<GroupWatch> left;  // of the group, in the grace time, when the leader has ended
  FdWatch output_watch;
  FdWatch errors_watch;
  FdWatch exit_watch;
  Timer deadline;  // the timeout, then the grace time
  Timer drain;
  // Callers on the stack look at this after a user's callback, which may have destroyed us.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

// A copy of one of our own descriptors.
Result<Fd> share(int fd) {
  Fd out(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!out) {
    return Error(ErrorKind::unavailable,
                 std::string("cannot hand the terminal on: ") + std::strerror(errno));
  }
  return out;
}

// What the child reads from.
Result<Fd> Process::Impl::make_input() {
  if (options.terminal) return share(STDIN_FILENO);
  if (!options.on_output || !options.talks) return sealed_input(options.input);
  KW_ASSIGN(Pipe pipe, make_input_pipe());
  writer.emplace(loop, std::move(pipe.ours));
  return std::move(pipe.theirs);
}

Result<void> Process::Impl::launch() {
  KW_ASSIGN(Pipe out, make_pipe());
  KW_ASSIGN(Pipe err, make_pipe());
  if (options.leaves_others) {
    let_outlive_us(out);
    let_outlive_us(err);
  }
  if (options.terminal) {
    KW_ASSIGN(err.theirs, share(STDERR_FILENO));
    err.ours.reset();
  }
  KW_ASSIGN(Fd read_from, make_input());
  const bool has_path = !options.input_path_variable.empty();
  // Programs that close what they inherit do so in their children (Python, Java, sudo): a path that
  // leads through our own descriptor works for all that the child starts.
  const auto path = has_path ? path_for_children(read_from) : std::nullopt;
  const bool through_us = path.has_value();
  if (has_path) {
    const std::string prefix = options.input_path_variable + "=";
    std::erase_if(options.environment,
                  [&prefix](const std::string& entry) { return entry.rfind(prefix, 0) == 0; });
    options.environment.push_back(prefix +
                                  path.value_or("/proc/self/fd/" + std::to_string(kInputFd)));
  }
  mark = next_mark(options.leaves_others);
  if (!mark.empty()) options.environment.push_back(mark);
  birth.from = ticks_now();
  KW_ASSIGN(spawned,
            spawn({options.argv, options.environment, options.directory, options.limits,
                   read_from.get(), out.theirs.get(), err.theirs.get(), has_path && !through_us,
                   !options.terminal, options.cgroup ? options.cgroup->fd() : -1, !options.ahead}));
  pid = spawned.pid;
  birth.until = ticks_now();
  birth.leader = pid;
  register_leader(pid, mark, !options.terminal);
  output = std::move(out.ours);
  errors = std::move(err.ours);
  output_end = std::move(out.theirs);
  if (errors) errors_end = std::move(err.theirs);
  if (through_us) input = std::move(read_from);
  // Not needed any more, and may be megabytes for each of many running children.
  options.input = {};
  return {};
}

void Process::Impl::watch() {
  output_watch = loop.on_readable(output.get(), [this] { on_output(); });
  if (errors) errors_watch = loop.on_readable(errors.get(), [this] { on_errors(); });
  exit_watch = loop.on_readable(spawned.pidfd.get(), [this] { on_exited(); });
  if (options.timeout > Duration::zero()) {
    deadline = loop.after(options.timeout, [this] { on_timeout(); });
  }
}

void Process::Impl::signal_group(int number) const {
  if (reaped || pid <= 0) return;
  // Before it runs it may not lead its group yet.
  const bool reached = !options.terminal && ::kill(-pid, number) == 0;
  if (!reached && number != SIGKILL) ::kill(pid, number);
  // A leader that moved to another group is ended as well.
  if (number == SIGKILL) ::kill(pid, SIGKILL);
}

void Process::Impl::kill() {
  killed = true;
  signal_group(SIGKILL);
}

void Process::Impl::stop_gently() {
  if (stopping || exited) return;
  stopping = true;
  signal_group(SIGTERM);
  deadline = loop.after(options.grace, [this] { on_grace_over(); });
}

void Process::Impl::on_grace_over() {
  grace_over = true;
  signal_group(SIGKILL);
  if (exited) on_group_ended();
}

// It may have ended in this very turn, before its pidfd was looked at.
bool Process::Impl::has_ended() const {
  pollfd wait{spawned.pidfd.get(), POLLIN, 0};
  return exited || poll(&wait, 1, 0) == 1;
}

void Process::Impl::on_timeout() {
  if (has_ended()) return;
  result.timed_out = true;
  stop_gently();
}

// False when this is gone.
bool Process::Impl::keep_output(std::string_view bytes) {
  if (options.on_output) {
    const std::shared_ptr<bool> still_alive = alive;
    // What it said before belongs to what it says now.
    if (!read_errors()) return false;
    const auto call = on_output_call;  // lives on, should it destroy us
    (*call)(bytes);
    return *still_alive;
  }
  const std::size_t room = options.max_stdout - result.out.size();
  result.out.append(bytes.substr(0, room));
  if (bytes.size() > room && !result.output_overflow) {
    result.output_overflow = true;
    kill();
  }
  return true;
}

// False when this is gone.
bool Process::Impl::read_output() {
  static std::array<char, kReadSize> buffer;
  for (int i = 0; i < kReadsPerTurn && output; ++i) {
    const ssize_t got = read(output.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      output_watch.reset();
      output.reset();
      return true;
    }
    if (!keep_output({buffer.data(), static_cast<std::size_t>(got)})) return false;
    // Most often all there is; the loop calls again if not.
    const bool talks = options.on_output && options.talks;
    if (talks && static_cast<std::size_t>(got) < buffer.size()) return true;
  }
  return true;
}

bool Process::Impl::emit(std::string_view line) {
  if (!on_stderr_line) return true;
  const std::shared_ptr<bool> still_alive = alive;
  on_stderr_line(line);
  return *still_alive;
}

// False when this is gone.
bool Process::Impl::finish_lines() {
  if (options.keep_begun) return true;
  const auto last = [this](std::string_view line, std::string_view) { return emit(line); };
  return lines.finish(last) == LineSplitter::Fed::all;
}

// False when this is gone.
bool Process::Impl::read_errors() {
  static std::array<char, kReadSize> buffer;
  const auto each = [this](std::string_view line, std::string_view) { return emit(line); };
  for (int i = 0; i < kReadsPerTurn && errors; ++i) {
    const ssize_t got = read(errors.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      errors_watch.reset();
      errors.reset();
      return finish_lines();
    }
    const auto fed = lines.feed({buffer.data(), static_cast<std::size_t>(got)}, each);
    if (fed != LineSplitter::Fed::all) return false;
  }
  return true;
}

void Process::Impl::on_output() {
  if (read_output()) finish_if_quiet();
}

void Process::Impl::on_errors() {
  if (read_errors()) finish_if_quiet();
}

void Process::Impl::on_exited() {
  exited = true;
  exit_watch.reset();
  if (options.leaves_others) {
    // Whoever is left writes to a full pipe for nothing, instead of waiting for a reader. Already
    // while we drain it: with our copy of this end kept until then there would be no end to read.
    for (const Fd* end : {&output_end, &errors_end}) {
      if (*end) fcntl(end->get(), F_SETFL, O_NONBLOCK);
    }
  }
  output_end.reset();
  errors_end.reset();
  if (stopping && !grace_over && !options.terminal) {
    // A shell dies of TERM at once; what it had started has its time to handle it.
    left = std::make_unique<GroupWatch>(loop, pid, [this] { on_group_ended(); });
    if (left->start()) return;
  }
  on_group_ended();
}

void Process::Impl::on_group_ended() {
  left.reset();
  deadline.reset();
  result.elapsed = loop.now() - started;
  // What it wrote last is in the pipes already; usually this is their end, too.
  if (!read_output() || !read_errors()) return;
  if (!output && !errors) return finish();
  // A timer counts from the beginning of its turn, which may be long ago.
  drain = loop.after(Duration{0},
                     [this] { drain = loop.after(options.drain, [this] { on_drained(); }); });
}

// What a long turn has kept us from reading is read before anybody is blamed. Twice: who is talked
// with has its end after the last of its output.
void Process::Impl::on_drained() {
  for (int i = 0; i < 2; ++i) {
    if (!read_output() || !read_errors()) return;
  }
  result.pipes_held = output || errors;
  finish();
}

void Process::Impl::finish_if_quiet() {
  if (exited && !left && !output && !errors) finish();
}

// Kills the group, unless it is spared, while its leader still holds the number, reaps, and goes
// after those who left it.
void Process::Impl::end_group(bool spares) {
  if (reaped) return;
  if (!spares) signal_group(SIGKILL);
  if (options.cgroup && !spares) options.cgroup->kill();
  int status = 0;
  if (!exited) {
    pollfd wait{spawned.pidfd.get(), POLLIN, 0};
    poll(&wait, 1, kDeathPatienceMs);
  }
  const pid_t waited = wait4(pid, &status, WNOHANG, &result.usage);
  if (waited == pid && WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (waited == pid && WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (waited == pid && (result.refused = spawned.refusal())) result.code.reset();
  if (waited == 0) base::log_warn("a killed child does not die", {{"pid", std::to_string(pid)}});
  reaped = true;
  input.reset();
  unregister_leader(pid);
  if (spares) {
    reap_orphans();
  } else {
    end_descendants(mark, birth, loop.now() - started);
  }
  options.cgroup.reset();
}

void Process::Impl::finish() {
  output_watch.reset();
  errors_watch.reset();
  drain.reset();
  if (errors && !finish_lines()) return;
  if (options.keep_begun) {
    lines.finish([this](std::string_view line, std::string_view) {
      result.begun = line;
      return true;
    });
  }
  end_group(options.leaves_others && !stopping && !killed);
  output.reset();
  errors.reset();
  const OnExit callback = std::move(on_exit);
  on_exit = nullptr;
  // May destroy this.
  if (callback) callback(std::move(result));
}

Process::Impl::~Impl() {
  *alive = false;
  if (pid > 0) end_group(false);
}

Result<std::unique_ptr<Process>> Process::start(EventLoop& loop, ProcessOptions options,
                                                OnStderrLine on_stderr_line, OnExit on_exit) {
  KW_TRY(check(options));
  auto impl = std::make_unique<Impl>(loop, std::move(options));
  impl->on_stderr_line = std::move(on_stderr_line);
  impl->on_exit = std::move(on_exit);
  if (impl->options.on_output) {
    impl->on_output_call =
        std::make_shared<std::function<void(std::string_view)>>(impl->options.on_output);
  }
  KW_TRY(impl->launch());
  impl->watch();
  return std::make_unique<Process>(std::move(impl));
}

Process::Process(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Process::~Process() = default;

int Process::pid() const {
  return impl_->pid;
}

bool Process::begun() const {
  return impl_->spawned.begun();
}

void Process::terminate() {
  if (impl_->has_ended()) return;
  impl_->result.canceled = true;
  impl_->stop_gently();
}

void Process::kill() {
  impl_->kill();
}

void Process::write(std::string_view bytes) {
  if (impl_->writer) impl_->writer->write(bytes);
}

}  // namespace kubewatch::loop
