#include "base/fnv.hpp"

#include <string>

#include "support/catch.hpp"

namespace kubewatch::base {

TEST_CASE("FNV-1a gives the published hashes") {
  CHECK(fnv1a64("") == 0xcbf29ce484222325U);
  CHECK(fnv1a64("a") == 0xaf63dc4c8601ec8cU);
  CHECK(fnv1a64("foobar") == 0x85944171f73967e8U);
  CHECK(fnv1a32("") == 0x811c9dc5U);
  CHECK(fnv1a32("a") == 0xe40c292cU);
  CHECK(fnv1a32("foobar") == 0xbf9cf968U);
}

TEST_CASE("FNV-1a of a text in pieces is that of the whole, and bytes over 127 are no negatives") {
  CHECK(fnv1a64("bar", fnv1a64("foo")) == fnv1a64("foobar"));
  const std::string high(1, '\xff');
  CHECK(fnv1a64(high) == (kFnvStart64 ^ 0xffU) * 0x100000001b3U);
}

}  // namespace kubewatch::base
