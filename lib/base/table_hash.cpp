#include "base/table_hash.hpp"

#include <cstring>

#include "base/random.hpp"

namespace kubewatch::base {

namespace {

struct Key {
  std::uint64_t a, b;
};

const Key& key() {
  static const Key kKey = [] {
    auto random = Random::from_system();
    return Key{random.next() | 1U, random.next() | 1U};
  }();
  return kKey;
}

// Both halves of a 128-bit product: each bit of either factor reaches every bit of the result.
std::uint64_t mix(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{x} * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t word_at(const char* at, std::size_t size) {
  std::uint64_t out = 0;
  std::memcpy(&out, at, size);
  return out;
}

}  // namespace

std::uint64_t table_hash(std::string_view text, std::uint64_t before) {
  const Key& k = key();
  std::uint64_t state = mix(before + k.b, k.a);
  state = mix(state ^ text.size() ^ k.a, k.b);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    state = mix(state ^ word_at(text.data() + at, 8) ^ k.a, k.b);
  }
  if (at < text.size()) {
    state = mix(state ^ word_at(text.data() + at, text.size() - at) ^ k.a, k.b);
  }
  return mix(state ^ k.b, k.a);
}

}  // namespace kubewatch::base
