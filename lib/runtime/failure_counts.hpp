// How often a watch failed, by where it failed: for logs, status lines and documents.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/watcher.hpp"

namespace kubewatch::runtime {

using FailureCounts = std::array<std::uint64_t, kWatcherFailures>;  // by WatcherFailure

// "initial list 2, watch stream 1"; "" when there was none.
std::string to_text(const FailureCounts& counts);
// The key of a count in JSON: initialList, watchStart, stream, serverError, noResourceVersion.
std::string_view key_of(WatcherFailure where);

}  // namespace kubewatch::runtime
