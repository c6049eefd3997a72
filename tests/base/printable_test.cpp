#include "base/printable.hpp"

#include "support/catch.hpp"

namespace kubewatch::base {

TEST_CASE("what shows something is what Go prints") {
  for (const char32_t shown :
       {U' ', U'~', U'\u00A1', U'\u00E9', U'\uFFFD', U'\U0001F600', U'\U000E0100', U'\U000E01EF'}) {
    CAPTURE(static_cast<unsigned>(shown));
    CHECK(is_print(shown));
  }
  for (const char32_t hidden :
       {U'\t', char32_t{0x7F}, char32_t{0x80}, U'\u00A0', U'\u00AD', U'\u0378', U'\u200B',
        U'\u3000', U'\uFEFF', U'\uFFFE', U'\U000E0001', U'\U000E01F0', U'\U0010FFFF'}) {
    CAPTURE(static_cast<unsigned>(hidden));
    CHECK_FALSE(is_print(hidden));
  }
}

}  // namespace kubewatch::base
