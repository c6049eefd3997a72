#include "loop/ending_signals.hpp"

#include <unistd.h>

namespace kubewatch::loop {
namespace {

void end_now(int number) {
  ::_exit(128 + number);
}

bool is_first_process() {
  return ::getpid() == 1;
}

}  // namespace

void end_by_signals_as_first_process() {
  if (!is_first_process()) return;
  for (const int number : kEndingSignals) {
    if (handler_of(number) == SIG_DFL) restore_default_handler(number);
  }
}

SignalHandler handler_of(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 ? action.sa_handler : SIG_ERR;
}

bool is_default_handler(SignalHandler handler) {
  return handler == SIG_DFL || handler == end_now;
}

void restore_default_handler(int number) {
  ::signal(number, is_first_process() ? end_now : SIG_DFL);
}

void end_by_signal(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);  // comes when the signal's handler has returned
  if (is_first_process()) end_now(number);
}

}  // namespace kubewatch::loop
