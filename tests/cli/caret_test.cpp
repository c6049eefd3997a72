#include "cli/caret.hpp"

#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("a caret stands under the place, whatever stands before it") {
  CHECK(with_caret("bad", "{.a b}", 4) == "bad\n  {.a b}\n      ^");
  CHECK(with_caret("bad", "日x", 3) == "bad\n  日x\n    ^");
  CHECK(with_caret("bad", "a\tb", 2) == "bad\n  a b\n    ^");
  CHECK(with_caret("bad", "one\ntwo", 5) == "bad\n  two\n   ^");
  CHECK(with_caret("bad", "\x1b[31m", 0) == "bad\n  \\x1b[31m\n  ^");
  CHECK(with_caret("bad", "abc", 99) == "bad\n  abc\n     ^");
  const auto cut = with_caret("bad", std::string(500, 'x') + "Y" + std::string(500, 'z'), 500);
  CHECK(cut.size() < 300);
  CHECK(cut.find("xY") != std::string::npos);
}

TEST_CASE("the place is the last that a message names") {
  CHECK(place_in("character 5: no") == 4);
  CHECK(place_in("\"character 2\": no at character 7") == 6);
  CHECK_FALSE(place_in("no place"));
  CHECK_FALSE(place_in("character 0: no"));
  CHECK_FALSE(place_in("character x"));
}

TEST_CASE("a caret stands under the character that the message names") {
  CHECK(with_named_caret("character 2: no", "abc") == "character 2: no\n  abc\n   ^");
  CHECK(with_named_caret("no at character 4", "abc") == "no at character 4\n  abc\n     ^");
  CHECK(with_named_caret("no place", "abc") == "no place");
  CHECK(with_named_caret("character 99: no", "abc") == "character 99: no");
  CHECK(with_named_caret("character 1: no", "a\nb") == "character 1: no");
}

}  // namespace kubewatch::cli
