// zlib's deflate with a gzip wrapper. Unpacking is gunzip.hpp.
#include "http/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/strings.hpp"

namespace kubewatch::http {

namespace {

constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  [[maybe_unused]] const int opened = deflateInit2(
      &stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY);
  assert(opened == Z_OK);
  std::string out;
  out.resize(deflateBound(&stream, bytes.size()));
  // zlib counts in unsigned int: bodies above 4 GiB go in slices.
  constexpr std::size_t kSlice = std::numeric_limits<uInt>::max() / 2;
  std::size_t written = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const std::size_t take = std::min(bytes.size(), kSlice);
    const std::size_t room = std::min(out.size() - written, kSlice);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(take);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    state = deflate(&stream, take == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    assert(state != Z_STREAM_ERROR);
    bytes.remove_prefix(take - stream.avail_in);
    written += room - stream.avail_out;
  }
  deflateEnd(&stream);
  out.resize(written);
  return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string& part : base::split(accept_encoding, ',')) {
    const std::string item = base::to_lower(base::trim(part));
    const std::size_t semicolon = item.find(';');
    if (base::trim(std::string_view(item).substr(0, semicolon)) != "gzip") continue;
    if (semicolon == std::string::npos) return true;
    const std::string_view quality = base::trim(std::string_view(item).substr(semicolon + 1));
    return quality.rfind("q=0", 0) != 0 || quality.find_first_of("123456789") != quality.npos;
  }
  return false;
}

}  // namespace kubewatch::http
