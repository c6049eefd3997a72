// Which resourceVersion is newer, and which cannot be compared.
#include "core/resource_version.hpp"

#include "support/catch.hpp"

using namespace kubewatch::core;

TEST_CASE("resourceVersions are compared as numbers, and only where they are some") {
  CHECK(older_version("9", "10"));
  CHECK_FALSE(older_version("10", "9"));
  CHECK_FALSE(older_version("10", "10"));
  CHECK_FALSE(older_version("0010", "10"));
  CHECK(older_version("0009", "10"));
  CHECK(older_version("18446744073709551615", "18446744073709551616"));  // beyond 64 bits
  CHECK_FALSE(older_version("", "10"));
  CHECK_FALSE(older_version("a9", "b10"));
  CHECK_FALSE(older_version("-1", "10"));
}

TEST_CASE("a state has what was written where its resourceVersion is as high, or the same text") {
  CHECK(at_least_version("10", "9"));
  CHECK(at_least_version("10", "10"));
  CHECK_FALSE(at_least_version("9", "10"));
  CHECK_FALSE(at_least_version("0010", "11"));
  CHECK(at_least_version("18446744073709551616", "18446744073709551615"));
  CHECK(at_least_version("abc", "abc"));
  CHECK_FALSE(at_least_version("abd", "abc"));
  CHECK_FALSE(at_least_version("", "1"));
}

TEST_CASE("the number of a resourceVersion is that of all of its text, or none") {
  CHECK(version_number("12") == 12);
  CHECK(version_number("18446744073709551615") == 18446744073709551615U);
  CHECK_FALSE(version_number("18446744073709551616"));
  CHECK_FALSE(version_number(""));
  CHECK_FALSE(version_number("12x"));
  CHECK_FALSE(version_number("-1"));
}
