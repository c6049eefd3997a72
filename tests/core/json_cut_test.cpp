#include "core/json_cut.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using core::JsonCutter;

namespace {

JsonCutter dropping(const std::vector<std::string>& pointers) {
  core::JsonCutRules rules;
  rules.drop = pointers;
  return JsonCutter(rules);
}

std::string cut(const std::vector<std::string>& pointers, std::string_view text) {
  auto result = dropping(pointers).cut(text, 200);
  return result.ok() ? result->json : "ERROR " + result.error().render();
}

}  // namespace

TEST_CASE("members named by pointers are cut out of the text") {
  struct Row {
    std::vector<std::string> pointers;
    std::string in, out;
  };
  const std::vector<Row> rows = {
      {{}, R"({"a":1})", R"({"a":1})"},
      {{"/a"}, R"({"a":1,"b":2})", R"({"b":2})"},
      {{"/b"}, R"({"a":1,"b":2})", R"({"a":1})"},
      {{"/a", "/b"}, R"({"a":1,"b":2})", R"({})"},
      {{"/m/f"}, R"({"m":{"f":[{"x":"}"}],"g":1},"f":2})", R"({"m":{"g":1},"f":2})"},
      {{"/m/f"}, R"({"m":[1],"f":2})", R"({"m":[1],"f":2})"},
      {{"/l/1"}, R"({"l":[1,2,3]})", R"({"l":[1,3]})"},
      {{"/l/0/x"}, R"({"l":[{"x":1,"y":2},{"x":1}]})", R"({"l":[{"y":2},{"x":1}]})"},
      {{"/a~1b"}, R"({"a/b":1,"c":"\"\\"})", R"({"c":"\"\\"})"},
      {{"/a~0b"}, R"({"a~b":1})", R"({})"},
      {{"/ab"}, R"({"\u0061b":1,"c":2})", R"({"c":2})"},
      {{""}, R"({"a":1})", R"({"a":1})"},
      {{"/x"},
       " { \"x\" : [ 1 , 2 ] , \"y\" : { \"z\" : \" s \\\" \" } } ",
       R"({"y":{"z":" s \" "}})"},
      {{"/a/b/c"}, R"({"a":{"b":{"c":1,"d":[]}}})", R"({"a":{"b":{"d":[]}}})"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.in);
    CHECK(cut(row.pointers, row.in) == row.out);
  }
}

TEST_CASE("broken text is refused and never read out of bounds") {
  const std::string whole = R"({"a":{"b":"x\"y"},"c":[1,{"d":null}]})";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    const std::string part = whole.substr(0, n);
    CHECK_FALSE(dropping({"/a/b"}).cut(part, 200).ok());
    CHECK_FALSE(core::for_each_member(part, [](const auto&) {}).ok());
  }
  for (const char* text : {"[]", "1", "", "{1:2}", "{\"a\" 1}", "{\"a\":}", "{\"a\":1} x", "{,}"}) {
    CAPTURE(text);
    CHECK_FALSE(dropping({"/a"}).cut(text, 200).ok());
  }
}

TEST_CASE("depth is limited without recursion") {
  const std::string deep =
      "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + ",\"b\":{}}";
  auto refused = dropping({"/b"}).cut(deep, 200);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::too_large);
  std::string keys;
  REQUIRE(core::for_each_member(deep, [&](const core::JsonMember& m) { keys += m.key; }).ok());
  CHECK(keys == "ab");
}

TEST_CASE("the cutter says whether the object names its type") {
  auto both = dropping({}).cut(R"({"kind":"Pod","apiVersion":"v1"})", 10);
  REQUIRE(both.ok());
  CHECK(both->has_kind);
  CHECK(both->has_api_version);
  auto none = dropping({"/metadata"}).cut(R"({"metadata":{"kind":"x"}})", 10);
  REQUIRE(none.ok());
  CHECK_FALSE(none->has_kind);
}

TEST_CASE("only what is asked for stays, and one member is handed out whether it stays or not") {
  struct Row {
    core::JsonCutRules rules;
    std::string out, noted;
  };
  const std::string text = R"({"a":{"x":1,"y":[1,{"z":2}]},"b":{"x":3},"c":4})";
  const std::vector<Row> rows = {
      {{{}, {"/c"}, ""}, R"({"c":4})", ""},
      {{{}, {"/a/x", "/c"}, ""}, R"({"a":{"x":1},"c":4})", ""},
      {{{}, {"/a"}, ""}, R"({"a":{"x":1,"y":[1,{"z":2}]}})", ""},
      {{{"/a/x"}, {"/a"}, ""}, R"({"a":{"y":[1,{"z":2}]}})", ""},
      {{{"/a"}, {"/a/x"}, ""}, R"({})", ""},
      {{{}, {"/a/y/1/z"}, ""}, R"({"a":{"y":[{"z":2}]}})", ""},
      {{{}, {"/none/at/all"}, ""}, R"({})", ""},
      {{{"/b"}, {}, "/b"}, R"({"a":{"x":1,"y":[1,{"z":2}]},"c":4})", R"({"x":3})"},
      {{{}, {}, "/a/y"}, text, R"([1,{"z":2}])"},
      {{{"/a/y"}, {"/c"}, "/a/y"}, R"({"c":4})", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.out);
    const auto result = JsonCutter(row.rules).cut(text, 200);
    REQUIRE(result.ok());
    CHECK(result->json == row.out);
    CHECK(result->noted == row.noted);
  }
}
