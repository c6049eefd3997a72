#include "core/json_cut.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using core::JsonCutter;

namespace {

std::string cut(const std::vector<std::string>& pointers, std::string_view text) {
  auto result = JsonCutter(pointers).cut(text, 200);
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
    CHECK_FALSE(JsonCutter({"/a/b"}).cut(part, 200).ok());
    CHECK_FALSE(core::for_each_member(part, [](const auto&) {}).ok());
  }
  for (const char* text : {"[]", "1", "", "{1:2}", "{\"a\" 1}", "{\"a\":}", "{\"a\":1} x", "{,}"}) {
    CAPTURE(text);
    CHECK_FALSE(JsonCutter({"/a"}).cut(text, 200).ok());
  }
}

TEST_CASE("depth is limited without recursion") {
  const std::string deep =
      "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + ",\"b\":{}}";
  auto refused = JsonCutter({"/b"}).cut(deep, 200);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::too_large);
  std::string keys;
  REQUIRE(core::for_each_member(deep, [&](const core::JsonMember& m) { keys += m.key; }).ok());
  CHECK(keys == "ab");
}

TEST_CASE("the cutter says whether the object names its type") {
  auto both = JsonCutter({}).cut(R"({"kind":"Pod","apiVersion":"v1"})", 10);
  REQUIRE(both.ok());
  CHECK(both->has_kind);
  CHECK(both->has_api_version);
  auto none = JsonCutter({"/metadata"}).cut(R"({"metadata":{"kind":"x"}})", 10);
  REQUIRE(none.ok());
  CHECK_FALSE(none->has_kind);
}
