// What SIGINT, SIGTERM and SIGHUP do where nobody hears them: they end the process. The kernel sees
// to that, but not for the first process of a PID namespace, which every container's command is: to
// it no signal comes that it has no handler for. There a handler of ours ends it, with 128+N.
// Who hears signals is not here: event_loop.hpp.
#pragma once

#include <signal.h>

#include <array>

namespace kubewatch::loop {

inline constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

using SignalHandler = void (*)(int);

// First thing in main, for all that have their default meaning; elsewhere than there it does
// nothing. Programs that we start do not inherit it.
void end_by_signals_as_first_process();

// SIG_ERR where there is no such signal.
SignalHandler handler_of(int number);
// Whether this, as handler_of() tells it, is the default meaning of an ending signal.
bool is_default_handler(SignalHandler handler);
// Gives it that again.
void restore_default_handler(int number);

// Ends the process by this signal as if nobody heard it; from its handler, at the latest when that
// returns. Safe in a handler.
void end_by_signal(int number);

}  // namespace kubewatch::loop
