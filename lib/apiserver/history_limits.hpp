// How much is kept of the changes of one kind, from which watches go on: in the sandbox and in the
// read-only server alike.
#pragma once

#include <cstddef>

namespace kubewatch::apiserver {

struct HistoryLimits {
  std::size_t events = 10000;
  std::size_t bytes = 32U << 20U;

  // The last one is kept, however long it is.
  bool exceeded_by(std::size_t some_events, std::size_t some_bytes) const {
    return some_events > events || (some_bytes > bytes && some_events > 1);
  }
};

// What a change takes beside its texts.
inline constexpr std::size_t kBytesPerChange = 256;

}  // namespace kubewatch::apiserver
