#include "cli/exit_code.hpp"

#include <algorithm>

namespace kubewatch::cli {

int exit_code_of(const base::Error& error) {
  switch (error.kind()) {
    // A server that refuses an object as invalid is a failure; our own check of a file is wrong
    // usage.
    case base::ErrorKind::invalid: return error.status() != nullptr ? kFailed : kUsage;
    case base::ErrorKind::unsupported: return error.status() != nullptr ? kFailed : kUsage;
    case base::ErrorKind::timeout: return error.status() != nullptr ? kFailed : kTimedOut;
    case base::ErrorKind::not_found: return kNotFound;
    case base::ErrorKind::conflict:
    case base::ErrorKind::already_exists: return kConflict;
    case base::ErrorKind::unauthorized:
    case base::ErrorKind::forbidden: return kForbidden;
    case base::ErrorKind::unreachable: return kUnreachable;
    default: return kFailed;
  }
}

int more_telling(int a, int b) {
  constexpr int kOrder[] = {kUnreachable, kForbidden,     kUsage,    kFailed,   kNotFound,
                            kTimedOut,    kAwaitedFailed, kConflict, kFindings, kDone};
  for (const int code : kOrder) {
    if (a == code || b == code) return code;
  }
  return std::max(a, b);
}

}  // namespace kubewatch::cli
