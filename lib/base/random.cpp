#include "base/random.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace kubewatch::base {

namespace {

// Throws: a kernel without randomness is not something a caller can handle.
void system_bytes(unsigned char* out, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::getrandom(out, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category(), "getrandom");
    out += got;
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace

Random Random::from_system() {
  unsigned char bytes[8];
  system_bytes(bytes, sizeof bytes);
  std::uint64_t seed = 0;
  for (const unsigned char byte : bytes) seed = (seed << 8U) | byte;
  return Random(seed);
}

// SplitMix64: one word of state, every seed is good.
std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double Random::unit() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) return 0;
  // Numbers under the threshold would make small results more likely than large ones.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < threshold) value = next();
  return value % bound;
}

std::string Random::suffix(std::size_t count) {
  constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(alphabet[below(alphabet.size())]);
  return out;
}

std::string Random::uuid() {
  const std::uint64_t high = (next() & ~std::uint64_t{0xf000}) | 0x4000U;
  const std::uint64_t low = (next() >> 2U) | 0x8000000000000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffffffffffffU);
}

std::string secure_random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  system_bytes(reinterpret_cast<unsigned char*>(raw.data()), raw.size());
  std::string out;
  for (const char c : raw) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace kubewatch::base
