// Sixty-four bytes of JSON text at a time: which of them are quotes, brackets, white space. What
// json_scan walks over long values with. Internal to lib/core.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kubewatch::core {

// Bit i is about byte i.
struct JsonBlock {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { and [
  std::uint64_t closes = 0;  // } and ]
  std::uint64_t spaces = 0;  // and control characters, which JSON does not allow there anyway
};

constexpr std::size_t kJsonBlock = 64;

// `bytes` must hold kJsonBlock of them.
JsonBlock classify_json_block(const char* bytes);
// The same without vector instructions: what other processors run, and what the tests compare with.
JsonBlock classify_json_block_portably(const char* bytes);

// The first quote or backslash in [at, end), or `end`.
const char* find_quote_or_backslash(const char* at, const char* end);

}  // namespace kubewatch::core
