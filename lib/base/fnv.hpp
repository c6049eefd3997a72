// FNV-1a: the same in each build and on each machine, so it may stand in names, files and what
// replicas agree on. Not a defence: whoever chooses the text can choose the hash (keyed_hash.hpp,
// table_hash.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace kubewatch::base {

inline constexpr std::uint64_t kFnvStart64 = 0xcbf29ce484222325U;

// `before`: of what goes before the text, where it is hashed in pieces.
constexpr std::uint64_t fnv1a64(std::string_view text, std::uint64_t before = kFnvStart64) {
  std::uint64_t hash = before;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

constexpr std::uint32_t fnv1a32(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace kubewatch::base
