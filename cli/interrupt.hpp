// SIGINT, SIGTERM and, unless nohup has it ignored, SIGHUP: the first asks for a graceful end, a
// second SIGINT or SIGTERM ends at once with 128+N. SIGHUP is ignored from the first one to the end
// of the process (see end_requests.hpp for why).
#pragma once

#include <functional>

#include "cli/end_requests.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli {

// What a closed terminal means.
enum class Hangup {
  ends,
  other,  // to the caller, who watches SIGHUP; it is told of none after the first signal
};

class Interrupt {
 public:
  // `loop` must outlive it; on_first is called from the loop.
  // on_second may end what must not outlive the process; the exit follows it. Programs that log in
  // are ended in any case.
  Interrupt(loop::EventLoop& loop, std::function<void()> on_first,
            std::function<void()> on_second = {}, Hangup hangup = Hangup::ends);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool happened() const { return requests_.happened(); }
  // Ends that signals ask for which the loop has not told of yet: for who waits inside a callback.
  static unsigned untold();

 private:
  void signal(int number);

  std::function<void()> on_first_;
  std::function<void()> on_second_;
  EndRequests requests_;
  loop::SignalWatch int_;
  loop::SignalWatch term_;
  loop::SignalWatch hangup_;
};

}  // namespace kubewatch::cli
