#include "apiserver/go_struct.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

const GoStruct kInner = {"Inner", {{"count", GoKind::int32, "int32"}}};
const GoStruct kOuter = {"Outer",
                         {{"name", GoKind::text, "types.Name"},
                          {"flag", GoKind::boolean, "bool"},
                          {"large", GoKind::int64, "int64"},
                          {"words", GoKind::text_list, "[]string"},
                          {"inner", GoKind::structure, "v1.Inner", &kInner}}};

std::string why(const char* json) {
  return why_misread(kOuter, base::parse_json(json).value()).value_or("");
}

}  // namespace

TEST_CASE("values of another type are refused as Go's decoder does") {
  const std::string start = "json: cannot unmarshal ";
  CHECK(why(R"({"name": 1})") ==
        start + "number into Go struct field Outer.name of type types.Name");
  CHECK(why(R"({"flag": "x"})") == start + "string into Go struct field Outer.flag of type bool");
  CHECK(why(R"({"large": 1.5})") ==
        start + "number 1.5 into Go struct field Outer.large of type int64");
  CHECK(why(R"({"large": true})") == start + "bool into Go struct field Outer.large of type int64");
  CHECK(why(R"({"words": {}})") ==
        start + "object into Go struct field Outer.words of type []string");
  CHECK(why(R"({"words": ["a", 1]})") ==
        start + "number into Go struct field Outer.words of type string");
  CHECK(why(R"({"inner": []})") ==
        start + "array into Go struct field Outer.inner of type v1.Inner");
  CHECK(why(R"({"inner": {"count": 2147483648}})") ==
        start + "number 2147483648 into Go struct field Inner.inner.count of type int32");
}

TEST_CASE("what fits, null, and what the type lacks is read") {
  for (const char* json :
       {R"({})", R"({"name": null, "inner": null, "words": [null]})", R"({"other": {"a": 1}})",
        R"({"name": "a", "flag": true, "large": 9223372036854775807, "words": ["a"]})",
        R"({"inner": {"count": -2147483648}})"}) {
    CAPTURE(json);
    CHECK(why(json).empty());
  }
  CHECK_FALSE(why(R"({"large": 9223372036854775808})").empty());
}

TEST_CASE("members that a type lacks are dropped and told") {
  Json value = {{"a", 1}, {"inner", {{"b", 2}, {"count", 3}}}, {"name", "n"}};
  std::vector<std::string> unknown;
  drop_unknown(kOuter, value, unknown);
  CHECK(unknown == std::vector<std::string>{"a", "inner.b"});
  CHECK(value == Json{{"inner", {{"count", 3}}}, {"name", "n"}});
}

}  // namespace kubewatch::apiserver
