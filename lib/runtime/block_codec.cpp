#include "runtime/block_codec.hpp"

#include <zstd.h>

namespace kubewatch::runtime {

namespace {

constexpr int kBlockLevel = 3;

}  // namespace

std::string compress_block(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), kBlockLevel);
  if (ZSTD_isError(size) != 0) return "";
  out.resize(size);
  out.shrink_to_fit();  // many of them wait
  return out;
}

Result<std::string> decompress_block(std::string_view bytes, std::size_t max) {
  const unsigned long long said = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (said == ZSTD_CONTENTSIZE_ERROR || said == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Error(ErrorKind::invalid, "it is no compressed block");
  }
  if (said > max) return Error(ErrorKind::too_large, "its text is too large");
  std::string out(static_cast<std::size_t>(said), '\0');
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0 || size != out.size()) {
    return Error(ErrorKind::invalid, "it is damaged");
  }
  return out;
}

}  // namespace kubewatch::runtime
