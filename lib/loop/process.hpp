// Child processes: one clone + setrlimit + execve path, own process group, clean signals, closed
// descriptors, captured output with caps, exit by pidfd. Mechanism only: what a hook's exit means,
// and its timeout policy, is lib/hooks. Linux; the only user of clone, pidfd and memfd.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "loop/cgroup.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::loop {

struct ProcessLimits {
  std::optional<std::uint64_t> memory_bytes;  // RLIMIT_AS is not it: RLIMIT_DATA of each process
  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> file_bytes;
};

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] is executed as given: a path, never searched in PATH
  std::vector<std::string> environment;  // "K=V", the whole environment of the child
  std::string directory;                 // "" = ours
  std::string input;                     // stdin, from a sealed memfd reopened read-only
  // When set, this environment variable names a path of the same read-only memfd, which all that
  // the child starts can open until the child has ended (/proc/OUR PID/fd/N).
  std::string input_path_variable;
  // When set, the child is talked with: stdin is a pipe that write() fills instead of `input`, and
  // stdout is given as it comes, after the lines of stderr that came before it; `max_stdout` does
  // not count. The view is valid during the call, which may destroy the Process.
  std::function<void(std::string_view)> on_output;
  // With on_output: false leaves stdin what `input` says, and write() does nothing.
  bool talks = true;
  // It talks with the person at our terminal: our stdin and stderr are its own, and it stays in our
  // process group, so that ctrl-C reaches it; neither `input` nor on_stderr_line is used.
  bool terminal = false;
  // What it starts may be meant to outlive it, as an agent or a browser is: when it ends by itself,
  // nobody is killed, and who still writes to its stdout or stderr is not ended by that either:
  // from its end on, in `drain` as well, what the pipe has no room for is refused (EAGAIN). Its
  // group is killed, and what left the group, as of any other child: after timeout, overflow of
  // stdout, terminate(), kill() or destruction.
  bool leaves_others = false;
  // start() does not wait until the program runs, so that nothing else does: what it would have
  // refused then comes as ProcessExit::refused.
  bool ahead = false;
  std::size_t max_stdout = 4U << 20U;  // beyond it: the group is killed, Exit::output_overflow
  std::size_t max_stderr_line = 64U << 10U;  // longer lines are cut and marked
  // What stands behind the last newline of stderr comes as ProcessExit::begun and not as a line:
  // then it is known whether the child was ended in it.
  bool keep_begun = false;
  Duration timeout{30000};  // 0 = none. Then TERM to the group, after `grace` KILL
  Duration grace{5000};     // of the whole group, also when its leader has ended
  Duration drain{500};      // after that: how long pipes held open by others are read
  ProcessLimits limits;
  // It is born there; what is left in it is killed with the group. Null: it stays in ours.
  std::shared_ptr<Cgroup> cgroup;
};

struct ProcessExit {
  std::optional<int> code;       // exit code, or
  std::optional<int> signal;     // the signal that ended it
  std::optional<Error> refused;  // ahead: it never ran; neither code nor signal then
  bool timed_out = false;
  bool output_overflow = false;
  bool pipes_held = false;  // a left-over process kept stdout or stderr open beyond `drain`
  bool canceled = false;    // terminate() was called
  std::string out;          // stdout, at most max_stdout
  std::string begun;        // keep_begun: the last line of stderr, which has no newline
  rusage usage{};
  Duration elapsed{0};
};

// A running child. Destroying it kills the group at once and reaps the child; on_exit is not called
// then.
class Process {
 public:
  using OnExit = std::function<void(ProcessExit)>;
  // Lines of stderr without the newline, as they come, not escaped.
  using OnStderrLine = std::function<void(std::string_view)>;

  // Errors: not_found, forbidden (not executable), invalid (NUL in a string, bad interpreter), each
  // with the path; with `ahead` only what is known before it is started. on_exit is called once,
  // from the loop, never from inside start().
  static Result<std::unique_ptr<Process>> start(EventLoop& loop, ProcessOptions options,
                                                OnStderrLine on_stderr_line, OnExit on_exit);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pid() const;
  // Always, but at first with `ahead`: until then it shares our memory.
  bool begun() const;
  // TERM to the group, after `grace` KILL; on_exit follows with canceled set, when nobody is left.
  void terminate();
  // KILL to the group; on_exit follows.
  void kill();
  // With on_output: into its stdin; what the pipe does not take waits here.
  void write(std::string_view bytes);

  struct Impl;
  explicit Process(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

// When a child's process group is gone, members that escaped it by setsid are still ours to end:
// this makes the calling process their reaper (PR_SET_CHILD_SUBREAPER), so that Process can find
// and kill descendants that outlive their hook. Who else becomes a child of ours (as a container's
// first process we adopt all orphans) is spared where it was there before that hook. Call once in
// main.
void become_subreaper();

}  // namespace kubewatch::loop
