// The line of the log that tells of a run, for all that run hooks.
#pragma once

#include "hooks/engine.hpp"

namespace kubewatch::cli {

// Without a reason and a trace where the run has none.
void log_run(const hooks::RunRecord& run);

}  // namespace kubewatch::cli
