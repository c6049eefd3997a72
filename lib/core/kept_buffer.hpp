// A text that is filled and emptied again and again; after one of megabytes its memory is given
// back. Nothing about what stands in it.
#pragma once

#include <cstddef>
#include <string>

namespace kubewatch::core {

inline constexpr std::size_t kKeptBuffer = 1U << 20U;

inline void empty_buffer(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptBuffer) buffer = std::string();
}

}  // namespace kubewatch::core
