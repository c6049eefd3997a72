// Any bytes as gzip: what zlib unpacks whole is unpacked to the same, and the result is the same
// however the bytes are cut. The first byte is the size of the pieces.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "http/gunzip.hpp"

namespace {

constexpr std::size_t kMost = 8U << 20U;

struct Unpacked {
  bool ok = true;
  bool whole = false;
  bool too_long = false;
  std::string out;
};

Unpacked unpack(std::string_view bytes, std::size_t piece) {
  kubewatch::http::Gunzip gunzip;
  Unpacked result;
  for (std::size_t at = 0; at < bytes.size() && result.ok && !result.too_long; at += piece) {
    result.ok = gunzip
                    .feed(bytes.substr(at, piece),
                          [&](std::string_view out) {
                            result.out += out;
                            result.too_long = result.out.size() > kMost;
                            return !result.too_long;
                          })
                    .ok();
  }
  result.whole = gunzip.whole();
  return result;
}

// What zlib makes of it, when that is the whole of it: one member and nothing behind.
std::optional<std::string> by_zlib(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) std::abort();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  static std::string space(kMost, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(space.data());
  stream.avail_out = static_cast<uInt>(space.size());
  const int state = inflate(&stream, Z_FINISH);
  const bool all = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!all) return std::nullopt;
  return space.substr(0, space.size() - stream.avail_out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = 1 + data[0] % 64U;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Unpacked at_once = unpack(bytes, bytes.size());
  const Unpacked cut = unpack(bytes, piece);
  if (at_once.too_long || cut.too_long) return 0;
  if (at_once.ok != cut.ok || at_once.whole != cut.whole) std::abort();
  // How much came before an error, or before what is missing, depends on the pieces.
  const std::size_t both = std::min(at_once.out.size(), cut.out.size());
  if (at_once.whole && at_once.out.size() != cut.out.size()) std::abort();
  if (at_once.out.compare(0, both, cut.out, 0, both) != 0) std::abort();
  if (const auto expected = by_zlib(bytes)) {
    if (!at_once.ok || !at_once.whole || at_once.out != *expected) std::abort();
  }
  return 0;
}
