// One run of `kubewatch watch`: sources in, views and commands out, an exit code at the end. Binds
// the parts; each decides for itself.
#pragma once

#include "cli/command.hpp"
#include "cli/session_recording.hpp"
#include "cli/watch/run_options.hpp"

namespace kubewatch::cli::watch {

// Blocks until it ends; prints what went wrong. The exit code.
int run_watch(Context& context, const RunOptions& options, SessionRecording& recording);

}  // namespace kubewatch::cli::watch
