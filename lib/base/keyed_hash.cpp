#include "base/keyed_hash.hpp"

#include <fmt/format.h>

#include <bit>

namespace kubewatch::base {

namespace {

std::uint64_t load64(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i) {
    out |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return out;
}

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) * 0xEDB88320U);
    table.at(i) = value;
  }
  return table;
}

}  // namespace

std::uint64_t siphash24(std::uint64_t k0, std::uint64_t k1, std::string_view value) {
  SipState s{k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU, k0 ^ 0x6c7967656e657261U,
             k1 ^ 0x7465646279746573U};
  const std::uint64_t size = value.size();
  for (; value.size() >= 8; value.remove_prefix(8)) s.take(load64(value));
  s.take(load64(value) | (size << 56U));
  s.v2 ^= 0xffU;
  for (int i = 0; i < 4; ++i) s.round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

KeyedHash::KeyedHash(std::string_view key) {
  for (std::size_t i = 0; i < key_.size() && i * 8 < key.size(); ++i) {
    key_.at(i) = load64(key.substr(i * 8));
  }
}

std::string KeyedHash::hex(std::string_view value) const {
  return fmt::format("{:016x}{:016x}", siphash24(key_[0], key_[1], value),
                     siphash24(key_[2], key_[3], value));
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto kTable = make_crc_table();
  std::uint32_t value = 0xFFFFFFFFU;
  for (const char c : bytes) {
    value = (value >> 8U) ^ kTable.at((value ^ static_cast<unsigned char>(c)) & 0xFFU);
  }
  return ~value;
}

}  // namespace kubewatch::base
