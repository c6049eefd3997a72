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

// As the regexp of Go 1.26 in a kube-apiserver 1.36 takes and refuses them.
TEST_CASE("groups are named as in Go") {
  for (const char* pattern : {"^(?<n>a)$", "^(?P<n>a)$", "^(?<1>a)$", "^(?i:(?<_n>A))$",
                              "^(?<n>a)(?<n>b)?$", "^(?P<n>a)(?<n>b)?$", R"(^[]](?<n>x)?$|^a$)",
                              R"(^[[:alpha:]](?<n>x)?$)", R"(^\\?(?<n>a)$)"}) {
    CAPTURE(pattern);
    const auto regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    CHECK(regex->search("a"));
    CHECK_FALSE(regex->search("c]"));
  }
  // Where it is no group it is text.
  const std::pair<const char*, const char*> texts[] = {{"^[(?<n>]+$", "<n>?("},
                                                       {R"(^\Q(?<n>a)\E$)", "(?<n>a)"},
                                                       {R"(^\(?<n>a$)", "(<n>a"},
                                                       {R"(^[\](?<n>a)]+$)", "](?<n>a)"},
                                                       {"^[^](?<n>a)]$", "b"}};
  for (const auto& [pattern, text] : texts) {
    CAPTURE(pattern);
    const auto regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    CHECK(regex->search(text));
  }
  const std::pair<const char*, const char*> refused[] = {
      {"(?<=a)", "invalid named capture: `(?<=a)`"},
      {"(?<!a)", "invalid named capture: `(?<!a)`"},
      {"(?<n", "invalid named capture: `(?<n`"},
      {"(?<", "invalid or unsupported Perl syntax: `(?<`"},
      {"(?<>a)", "invalid named capture: `(?<>`"},
      {"(?<n-m>a)", "invalid named capture: `(?<n-m>`"},
      {"(?P<n-m>a)", "invalid named capture: `(?P<n-m>`"},
      {"(?<\xe5\x90\x8d>a)", "invalid named capture: `(?<\xe5\x90\x8d>`"},
      {"(?P<\xc3\xa9>a)", "invalid named capture: `(?P<\xc3\xa9>`"},
      {"(?<a>(?<=b))", "invalid named capture: `(?<=b))`"},
      {"(?<n>a", "missing closing ): `(?<n>a`"},
      {"(?<n>?a)", "missing argument to repetition operator: `?`"},
      {"(?<n>a)[z-a]", "invalid character class range: `z-a`"},
      {"(?<n>[a)", "missing closing ]: `[a)`"}};
  for (const auto& [pattern, message] : refused) {
    CAPTURE(pattern);
    const auto regex = Regex::compile(pattern);
    REQUIRE_FALSE(regex.ok());
    CHECK(regex.error().kind() == ErrorKind::invalid);
    CHECK(regex.error().message() == std::string("error parsing regexp: ") + message);
  }
}

TEST_CASE("what RE2 has and Go has not is refused") {
  for (const char* pattern : {R"(\C)", R"(a\Cb)", R"((?<n>\C))"}) {
    CAPTURE(pattern);
    const auto regex = Regex::compile(pattern);
    REQUIRE_FALSE(regex.ok());
    CHECK(regex.error().message() == "error parsing regexp: invalid escape sequence: `\\C`");
  }
  CHECK(Regex::compile(R"(\Q\C\E)").ok());
  CHECK(Regex::compile(R"(\\C)").ok());
  const auto nested = [](std::size_t groups, const std::string& before = "") {
    return before + std::string(groups, '(') + std::string(groups, ')');
  };
  CHECK(Regex::compile(nested(999)).ok());
  CHECK(Regex::compile("(?<n>" + nested(998) + ")").ok());
  CHECK(Regex::compile("(?i:" + nested(999) + ")").ok());
  for (const std::string& deep :
       {nested(1000), nested(1000, "(?i)"), "(?<n>" + nested(999) + ")"}) {
    const auto regex = Regex::compile(deep);
    REQUIRE_FALSE(regex.ok());
    CHECK(regex.error().message() ==
          "error parsing regexp: expression nests too deeply: `" + deep + "`");
  }
  // Beside each other is not in each other.
  std::string wide;
  for (int i = 0; i < 1200; ++i) wide += "(a)";
  CHECK(Regex::compile(wide).ok());
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
