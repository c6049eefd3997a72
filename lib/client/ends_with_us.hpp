// While a program that logs in, or makes manifests, runs: a SIGINT, SIGTERM or SIGHUP that ends
// this process ends that program's process group first. Only where the signal has its default
// meaning; whoever hears it ends programs that log in by login_waits.hpp. Not for SIGKILL: then the
// kernel sends the program, and none of its children, SIGTERM.
// Plain handlers, which need no loop that turns: the one who waits for the login may have none.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace kubewatch::client {

// Until it goes, those signals wait. Around the start of the program, which may be signalled as
// soon as it runs, before there is an EndsWithUs for it. It begins with no signal blocked
// (loop/spawn.hpp).
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

class EndsWithUs {
 public:
  // `leader` of a process group of its own; beyond 16 at a time they are not ended. On the one
  // thread of the process.
  explicit EndsWithUs(pid_t leader);
  ~EndsWithUs();
  EndsWithUs(const EndsWithUs&) = delete;
  EndsWithUs& operator=(const EndsWithUs&) = delete;

 private:
  pid_t leader_;
};

}  // namespace kubewatch::client
