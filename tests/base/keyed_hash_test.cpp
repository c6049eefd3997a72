#include "base/keyed_hash.hpp"

#include "support/catch.hpp"

namespace kubewatch::base {

TEST_CASE("the keyed hash is SipHash-2-4 as its authors' vectors say") {
  // Key 00 01 ... 0f, input 00 01 ... 0e, and the empty input.
  std::string input;
  for (char c = 0; c < 15; ++c) input += c;
  const std::uint64_t k0 = 0x0706050403020100U;
  const std::uint64_t k1 = 0x0f0e0d0c0b0a0908U;
  CHECK(siphash24(k0, k1, input) == 0xa129ca6149be45e5U);
  CHECK(siphash24(k0, k1, "") == 0x726fdb47dd0e0e31U);
}

TEST_CASE("a keyed hash depends on the value and on all of the key") {
  const std::string key(KeyedHash::kKeyBytes, 'k');
  const KeyedHash hash(key);
  CHECK(hash.hex("a") == KeyedHash(key).hex("a"));
  CHECK(hash.hex("a").size() == 32);
  CHECK(hash.hex("a") != hash.hex("b"));
  std::string other = key;
  other.back() = 'x';
  CHECK(KeyedHash(other).hex("a").substr(0, 16) == hash.hex("a").substr(0, 16));
  CHECK(KeyedHash(other).hex("a") != hash.hex("a"));
}

TEST_CASE("the checksum is CRC-32") {
  CHECK(crc32("123456789") == 0xCBF43926U);
  CHECK(crc32("") == 0U);
}

}  // namespace kubewatch::base
