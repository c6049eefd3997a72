#include "runtime/failure_counts.hpp"

namespace kubewatch::runtime {

std::string to_text(const FailureCounts& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (!out.empty()) out += ", ";
    out += to_string(static_cast<WatcherFailure>(i));
    out += ' ';
    out += std::to_string(counts[i]);
  }
  return out;
}

std::string_view key_of(WatcherFailure where) {
  switch (where) {
    case WatcherFailure::initial_list: return "initialList";
    case WatcherFailure::watch_start: return "watchStart";
    case WatcherFailure::stream: return "stream";
    case WatcherFailure::server_error: return "serverError";
    case WatcherFailure::no_resource_version: return "noResourceVersion";
  }
  return "unknown";
}

}  // namespace kubewatch::runtime
