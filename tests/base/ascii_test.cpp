#include "base/ascii.hpp"

#include <limits>
#include <string>

#include "support/catch.hpp"

namespace kubewatch::base {

namespace {

std::string all_that(bool (*is)(char)) {
  std::string out;
  for (int c = std::numeric_limits<char>::min(); c <= std::numeric_limits<char>::max(); ++c) {
    if (is(static_cast<char>(c))) out += static_cast<char>(c);
  }
  return out;
}

}  // namespace

TEST_CASE("classes of characters hold what is ASCII, and no other byte") {
  const std::string digits = "0123456789";
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string lower = "abcdefghijklmnopqrstuvwxyz";
  CHECK(all_that(is_digit) == digits);
  CHECK(all_that(is_upper) == upper);
  CHECK(all_that(is_lower) == lower);
  CHECK(all_that(is_letter) == upper + lower);
  CHECK(all_that(is_alphanumeric) == digits + upper + lower);
  CHECK(all_that(is_hex_digit) == digits + "ABCDEFabcdef");
  CHECK(all_that(is_control).size() == 33);
  CHECK(is_control('\0'));
  CHECK(is_control('\x7f'));
  CHECK(to_lower('Q') == 'q');
  CHECK(to_upper('q') == 'Q');
  CHECK(to_upper('[') == '[');
  CHECK(hex_value('9') == 9);
  CHECK(hex_value('b') == 11);
  CHECK(hex_value('F') == 15);
  CHECK(hex_value('g') == -1);
}

}  // namespace kubewatch::base
