#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace kubewatch::cli {

namespace {

std::atomic<unsigned> untold_signals{0};
static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler counts");

// Those of the loop, which only notes that its callback is due.
using Handler = void (*)(int);
std::atomic<Handler> of_int{nullptr};
std::atomic<Handler> of_term{nullptr};
std::atomic<Handler> of_hangup{nullptr};

std::atomic<Handler>& next_of(int number) {
  return number == SIGINT ? of_int : number == SIGHUP ? of_hangup : of_term;
}

void count(int number) {
  ++untold_signals;
  const Handler next = next_of(number);
  if (next != nullptr) next(number);
}

// Before the loop's handler, which it takes with it when it goes.
void count_before(int number) {
  struct sigaction action {};
  if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == count) return;
  next_of(number) = action.sa_handler;
  action.sa_handler = count;
  ::sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

unsigned Interrupt::untold() {
  return untold_signals;
}

Interrupt::Interrupt(loop::EventLoop& loop, std::function<void()> on_first,
                     std::function<void()> on_second, Hangup hangup)
    : on_first_(std::move(on_first)),
      on_second_(std::move(on_second)),
      int_(loop.on_signal(SIGINT, [this] { signal(SIGINT); })),
      term_(loop.on_signal(SIGTERM, [this] { signal(SIGTERM); })) {
  untold_signals = 0;
  count_before(SIGINT);
  count_before(SIGTERM);
  if (hangup == Hangup::other || is_ignored(SIGHUP)) return;
  hangup_ = loop.on_signal(SIGHUP, [this] { signal(SIGHUP); });
  count_before(SIGHUP);
}

void Interrupt::signal(int number) {
  if (happened_) {
    if (on_second_) on_second_();
    ::_exit(128 + number);
  }
  happened_ = true;
  // Each is told of once; one that came with it ends the process in this turn.
  untold_signals = 0;
  on_first_();
}

}  // namespace kubewatch::cli
