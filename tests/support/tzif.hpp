// Time zone files for tests, so that none depends on the machine's database.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kubewatch::test {

inline std::string big_endian(std::int64_t value, int width) {
  std::string out;
  for (int shift = (width - 1) * 8; shift >= 0; shift -= 8) {
    out += static_cast<char>((static_cast<std::uint64_t>(value) >> shift) & 0xffU);
  }
  return out;
}

inline std::string tzif_header(std::size_t times, std::size_t types) {
  std::string out = "TZif2" + std::string(15, '\0');
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{0}, std::size_t{0}, times, types, std::size_t{4}}) {
    out += big_endian(static_cast<std::int64_t>(count), 4);
  }
  return out;
}

// Transitions {instant, offset from then on}, the offset before the first, and the POSIX text.
inline std::string tzif(const std::vector<std::pair<std::int64_t, int>>& changes, int before,
                        const std::string& posix) {
  const auto one = [](int offset) { return big_endian(offset, 4) + std::string(2, '\0'); };
  std::string out = tzif_header(0, 1) + one(0) + std::string(4, '\0');
  out += tzif_header(changes.size(), changes.size() + 1);
  for (const auto& [at, offset] : changes) out += big_endian(at, 8);
  for (std::size_t i = 0; i < changes.size(); ++i) out += static_cast<char>(i + 1);
  out += one(before);
  for (const auto& [at, offset] : changes) out += one(offset);
  return out + std::string(4, '\0') + "\n" + posix + "\n";
}

}  // namespace kubewatch::test
