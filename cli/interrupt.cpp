#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

namespace kubewatch::cli {

Interrupt::Interrupt(loop::EventLoop& loop, std::function<void()> on_first,
                     std::function<void()> on_second)
    : on_first_(std::move(on_first)),
      on_second_(std::move(on_second)),
      int_(loop.on_signal(SIGINT, [this] { signal(SIGINT); })),
      term_(loop.on_signal(SIGTERM, [this] { signal(SIGTERM); })) {}

void Interrupt::signal(int number) {
  if (happened_) {
    if (on_second_) on_second_();
    ::_exit(128 + number);
  }
  happened_ = true;
  on_first_();
}

}  // namespace kubewatch::cli
