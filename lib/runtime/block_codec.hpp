// Blocks of text compressed by zstd, each readable without the others: for files that grow, and for
// what waits. Besides store_codec the only user of zstd.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::runtime {

// "" when zstd fails, which only memory can make it.
std::string compress_block(std::string_view text);
// Safe with any bytes. Errors: invalid (not what compress_block() made), too_large (its text would
// have more than `max` bytes; nothing is allocated then).
Result<std::string> decompress_block(std::string_view bytes, std::size_t max);

}  // namespace kubewatch::runtime
