#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "client/login_waits.hpp"
#include "loop/ending_signals.hpp"

namespace kubewatch::cli {

namespace {

UntoldSignals untold_signals;

// Those of the loop, which only notes that its callback is due.
using Handler = loop::SignalHandler;
std::atomic<Handler> of_int{nullptr};
std::atomic<Handler> of_term{nullptr};
std::atomic<Handler> of_hangup{nullptr};

std::atomic<Handler>& next_of(int number) {
  return number == SIGINT ? of_int : number == SIGHUP ? of_hangup : of_term;
}

void count(int number) {
  untold_signals.came(number);
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

bool signal_told = false;
bool hangups_would_end = true;  // by default, before we had them ignored

// The loop puts back what it found when its handler goes. By then a hangup must not kill what is
// ending, and there is no moment between for one that would.
void ignore_hangups_below() {
  if (!loop::is_default_handler(loop::handler_of(SIGHUP))) return;
  ::signal(SIGHUP, SIG_IGN);
  hangups_would_end = false;
}

void restore_hangups() {
  if (signal_told || loop::handler_of(SIGHUP) != SIG_IGN) return;
  if (!std::exchange(hangups_would_end, true)) loop::restore_default_handler(SIGHUP);
}

}  // namespace

unsigned Interrupt::untold() {
  return untold_signals.count();
}

Interrupt::Interrupt(loop::EventLoop& loop, std::function<void()> on_first,
                     std::function<void()> on_second, Hangup hangup)
    : on_first_(std::move(on_first)),
      on_second_(std::move(on_second)),
      int_(loop.on_signal(SIGINT, [this] { signal(SIGINT); })),
      term_(loop.on_signal(SIGTERM, [this] { signal(SIGTERM); })) {
  untold_signals.told(false);
  count_before(SIGINT);
  count_before(SIGTERM);
  const bool unheard = loop::handler_of(SIGHUP) == SIG_IGN;
  ignore_hangups_below();
  if (hangup == Hangup::other || unheard) return;
  hangup_ = loop.on_signal(SIGHUP, [this] { signal(SIGHUP); });
  count_before(SIGHUP);
}

Interrupt::~Interrupt() {
  hangup_.reset();
  restore_hangups();
}

void Interrupt::signal(int number) {
  const auto meaning = requests_.told(number);
  if (meaning == EndRequests::Meaning::at_once) {
    if (on_second_) on_second_();
    client::kill_login_programs();
    ::_exit(128 + number);
  }
  const bool first = meaning == EndRequests::Meaning::first;
  untold_signals.told(first && number == SIGHUP);
  if (!first) return;
  signal_told = true;
  ::signal(SIGHUP, SIG_IGN);
  on_first_();
}

}  // namespace kubewatch::cli
