#include "runtime/block_codec.hpp"

#include "support/catch.hpp"

namespace kubewatch::runtime {

TEST_CASE("a compressed block gives back its text, whatever its size") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
    const std::string text(size, 'x');
    const std::string packed = compress_block(text);
    const auto back = decompress_block(packed, size);
    REQUIRE(back.ok());
    CHECK(*back == text);
  }
  CHECK(compress_block(std::string(300'000, 'x')).size() < 1000);
}

TEST_CASE("a block that holds more than is wanted, or none at all, is refused") {
  const std::string packed = compress_block(std::string(1000, 'x'));
  CHECK(decompress_block(packed, 999).error().kind() == ErrorKind::too_large);
  CHECK(decompress_block("not zstd", 999).error().kind() == ErrorKind::invalid);
  CHECK(decompress_block("", 999).error().kind() == ErrorKind::invalid);
  CHECK_FALSE(decompress_block(packed.substr(0, packed.size() - 1), 1000).ok());
}

}  // namespace kubewatch::runtime
