// Randomness as an argument: seeded from the system in main, with a constant in tests.
// Not for secrets: see secure_random_hex.
#pragma once

#include <cstdint>
#include <string>

namespace kubewatch::base {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // A seed from getrandom(2).
  static Random from_system();

  std::uint64_t next();
  // In [0, 1).
  double unit();
  // In [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // `count` characters of the alphabet that generateName uses (no vowels, no 0, 1, 3).
  std::string suffix(std::size_t count);
  // An RFC 4122 version 4 UUID.
  std::string uuid();

 private:
  std::uint64_t state_;
};

// Bytes from getrandom(2), hex; for tokens and keys.
std::string secure_random_hex(std::size_t bytes);

}  // namespace kubewatch::base
