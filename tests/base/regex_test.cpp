// Regular expressions as schemas and rules use them.
#include "base/regex.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using base::Regex;

TEST_CASE("a pattern matches anywhere in the text unless it is anchored") {
  const auto loose = Regex::compile("b+");
  REQUIRE(loose.ok());
  CHECK(loose->search("abbc"));
  CHECK_FALSE(loose->search("ac"));
  const auto anchored = Regex::compile("^b+$");
  REQUIRE(anchored.ok());
  CHECK(anchored->search("bb"));
  CHECK_FALSE(anchored->search("abbc"));
}

TEST_CASE("find gives the leftmost match, from a place on, with what is before it in view") {
  const auto regex = Regex::compile(R"(\bb+)");
  REQUIRE(regex.ok());
  const auto first = regex->find("bb abb bbb");
  REQUIRE(first.has_value());
  CHECK(first->begin == 0);
  CHECK(first->end == 2);
  const auto second = regex->find("bb abb bbb", 2);
  REQUIRE(second.has_value());
  CHECK(second->begin == 7);
  CHECK(second->end == 10);
  CHECK_FALSE(regex->find("bb abb bbb", 10).has_value());
}

TEST_CASE("a broken pattern is refused in Go's words") {
  const auto open = Regex::compile("a(b");
  REQUIRE_FALSE(open.ok());
  CHECK(open.error().message() == "error parsing regexp: missing closing ): `a(b`");
  const auto repeat = Regex::compile("*a");
  REQUIRE_FALSE(repeat.ok());
  CHECK(repeat.error().message() ==
        "error parsing regexp: missing argument to repetition operator: `*`");
  CHECK_FALSE(Regex::compile("(?=a)").ok());
}

TEST_CASE("patterns that would need too much memory are refused") {
  CHECK_FALSE(Regex::compile(std::string(70000, 'a')).ok());
  CHECK_FALSE(Regex::compile("((a{100}){100}){100}").ok());
  // More than is kept for others, and less than the limit.
  const auto large = Regex::compile(R"(^\pL{100}$)");
  REQUIRE(large.ok());
  CHECK(large->search(std::string(100, 'a')));
  CHECK_FALSE(large->search(std::string(99, 'a')));
}

TEST_CASE("a pattern asked for again matches as before, whatever was asked for in between") {
  const auto again = [](const std::string& pattern) {
    auto regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    return std::move(*regex);
  };
  const Regex first = again("^x0$");
  for (int n = 0; n < 100; ++n) {
    const std::string text = "x" + std::to_string(n);
    const Regex regex = again("^" + text + "$");
    CHECK(regex.search(text));
    CHECK_FALSE(regex.search(text + "0"));
    CHECK_FALSE(Regex::compile("(" + text).ok());
    CHECK_FALSE(Regex::compile("(" + text).ok());
  }
  // Its program is no longer kept for others by now; it is kept by its Regex.
  CHECK(first.search("x0"));
  CHECK(again("^x0$").search("x0"));
}
