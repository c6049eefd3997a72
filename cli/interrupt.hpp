// SIGINT, SIGTERM and, unless nohup has it ignored, SIGHUP: the first asks for a graceful end, the
// second ends at once with 128+N.
#pragma once

#include <functional>

#include "loop/event_loop.hpp"

namespace kubewatch::cli {

// What a closed terminal means.
enum class Hangup {
  ends,
  other,  // to the caller, who watches SIGHUP
};

class Interrupt {
 public:
  // `loop` must outlive it; on_first is called from the loop.
  // on_second may end what must not outlive the process; the exit follows it.
  Interrupt(loop::EventLoop& loop, std::function<void()> on_first,
            std::function<void()> on_second = {}, Hangup hangup = Hangup::ends);
  bool happened() const { return happened_; }
  // Signals that have come and that the loop has not told of yet: for who waits inside a callback.
  static unsigned untold();

 private:
  void signal(int number);

  std::function<void()> on_first_;
  std::function<void()> on_second_;
  bool happened_ = false;
  loop::SignalWatch int_;
  loop::SignalWatch term_;
  loop::SignalWatch hangup_;
};

}  // namespace kubewatch::cli
