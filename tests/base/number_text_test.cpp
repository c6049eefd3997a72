#include "base/number_text.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"

using namespace kubewatch::base;

TEST_CASE("a number is read from the whole text or not at all") {
  CHECK(read_number<int>("0") == 0);
  CHECK(read_number<int>("-17") == -17);
  CHECK(read_number<std::uint64_t>("18446744073709551615") == 18446744073709551615U);
  CHECK(read_number<double>("2.5e1") == 25.0);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x1", "1.5", "2147483648"}) {
    INFO(text);
    CHECK_FALSE(read_number<int>(text).has_value());
  }
  CHECK_FALSE(read_number<std::uint64_t>("-1").has_value());
  CHECK_FALSE(read_number<int>(std::string("1\0", 2)).has_value());
}
