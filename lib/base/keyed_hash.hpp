// SipHash-2-4 under a secret key, twice for 128 bits: what may be kept on disk of something that
// must not be guessed from it. Equal for equal values under one key, worthless without the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubewatch::base {

class KeyedHash {
 public:
  static constexpr std::size_t kKeyBytes = 32;
  // Of `key` the first kKeyBytes count; a shorter one is filled with zeros.
  explicit KeyedHash(std::string_view key);
  std::string hex(std::string_view value) const;  // 32 characters

 private:
  std::array<std::uint64_t, 4> key_{};
};

// The first half alone, for tests against the published vectors.
std::uint64_t siphash24(std::uint64_t k0, std::uint64_t k1, std::string_view value);

// CRC-32 (IEEE): finds torn and damaged records, not forged ones.
std::uint32_t crc32(std::string_view bytes);

}  // namespace kubewatch::base
