// Exit codes, the same for all commands (README, Exit codes).
#pragma once

#include "base/error.hpp"

namespace kubewatch::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kTimedOut = 3,
  kAwaitedFailed = 4,
  kNotFound = 5,
  kConflict = 6,
  kForbidden = 7,
  kUnreachable = 8,
  kFindings = 9,
};

int exit_code_of(const base::Error& error);

// Of several outcomes the one to exit with. Unreachable, forbidden, wrong usage, failed, not found,
// timed out, conflict, differences, done: what comes earlier hides what comes later. So 6 says that
// everything but the conflicts is done, and 9 that nothing failed.
int more_telling(int a, int b);

}  // namespace kubewatch::cli
