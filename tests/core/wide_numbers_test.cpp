#include "core/wide_numbers.hpp"

#include "support/catch.hpp"

namespace kubewatch::core {

TEST_CASE("only whole numbers that may not fit are made floats, and nothing in strings") {
  const auto same = [](std::string_view json) { return with_wide_numbers(json) == json; };
  CHECK(with_wide_numbers(R"({"a":[1,-100000000000000000000, 99999999999999999999 ]})") ==
        R"({"a":[1,-100000000000000000000.0, 99999999999999999999.0 ]})");
  CHECK(same("18446744073709551615"));
  CHECK(with_wide_numbers("18446744073709551616") == "18446744073709551616.0");
  CHECK(same("-9223372036854775808"));
  CHECK(with_wide_numbers("-9223372036854775809") == "-9223372036854775809.0");
  CHECK(same("0.1234567890123456789"));
  CHECK(same("12345678901234567890.5"));
  CHECK(same("1e12345678901234567890"));
  CHECK(same("1E+12345678901234567890"));
  CHECK(same("[1e-99999999999999999999]"));
  CHECK(same("-1.5E-99999999999999999999"));
  CHECK(same(R"({"12345678901234567890":"12345678901234567890 \" 12345678901234567890"})"));
  CHECK(same(R"("never closed 12345678901234567890)"));
  CHECK(same(""));
}

}  // namespace kubewatch::core
