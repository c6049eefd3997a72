// Texts cut to a size, never inside a character.
#include "base/cut_text.hpp"

#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("a text is cut before the character that does not fit whole") {
  CHECK(base::cut_text("abc", 3) == "abc");
  CHECK(base::cut_text("abcd", 3) == "abc");
  CHECK(base::cut_text("ab\u00e9d", 3) == "ab");
  CHECK(base::cut_text("ab\u00e9d", 4) == "ab\u00e9");
  CHECK(base::cut_text("\U0001F600x", 3).empty());
}

TEST_CASE("a shortened text tells that there was more") {
  CHECK(base::shortened_bytes("abc", 3) == "abc");
  CHECK(base::shortened_bytes("ab\u00e9d", 3) == "ab...");
}
