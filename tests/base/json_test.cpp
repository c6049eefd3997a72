#include "base/json.hpp"

#include "base/utf8.hpp"
#include "base/yaml_body.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

TEST_CASE("valid JSON is read and the last of duplicate keys wins") {
  CHECK(*parse_json(" {\"a\": [1, 2.5, \"x\\u00e9\", null, true]} ") ==
        Json{{"a", {1, 2.5, "xé", nullptr, true}}});
  CHECK(*parse_json("{\"a\":1,\"a\":2}") == Json{{"a", 2}});
  CHECK(dump_json(*parse_json("9007199254740993")) == "9007199254740993");
}

TEST_CASE("broken JSON is refused with the byte") {
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "nul", "NaN", "{} x", "\"\xff\"", "01",
                           "'a'", "[1] [2]", "1e999", "\"\\ud800\""}) {
    INFO(text);
    auto result = parse_json(text);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind() == ErrorKind::invalid);
  }
  CHECK(parse_json("[1,]").error().message() == "not valid JSON at byte 4");
}

TEST_CASE("size and depth of JSON are limited") {
  CHECK(parse_json("[1]", {2, 10}).error().kind() == ErrorKind::too_large);
  CHECK(parse_json("[[1]]", {100, 2}).ok());
  CHECK(parse_json("[[[1]]]", {100, 2}).error().kind() == ErrorKind::too_large);
  CHECK(parse_json(std::string(1000000, '[')).error().kind() == ErrorKind::too_large);
  CHECK(parse_json("\"[[[[[[\\\"[[[\"", {100, 2}).ok());
}

TEST_CASE("JSON for a reader of YAML is read by it as what it is, whatever the characters") {
  CHECK(dump_json_for_yaml(Json{{"a", "b é 😀"}}) == "{\"a\":\"b é 😀\"}");
  CHECK(dump_json_for_yaml("\x7f \xc2\x85 \xe2\x80\xa8") == R"("\u007f \u0085 \u2028")");
  Json all = Json::array();
  for (char32_t c = 0; c < 0x11000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string text = "a ";
    append_utf8(text, c);
    all.push_back(text + " b");
  }
  const auto read = parse_yaml_body(dump_json_for_yaml(all));
  REQUIRE(read.ok());
  CHECK(read->value == all);
}

TEST_CASE("dump_json never throws on invalid UTF-8") {
  CHECK(dump_json(Json("a\xff")) == "\"a\xef\xbf\xbd\"");
  CHECK(dump_json_pretty(Json{{"b", 1}, {"a", 2}}) == "{\n  \"a\": 2,\n  \"b\": 1\n}");
}

TEST_CASE("paths are found only through objects") {
  Json value = {{"metadata", {{"name", "web"}, {"generation", 3}}}, {"list", {1}}};
  CHECK(string_at(value, {"metadata", "name"}) == "web");
  CHECK(string_at(value, {"metadata", "generation"}).empty());
  CHECK(string_at(value, {"metadata", "absent"}).empty());
  CHECK(string_at(value, {"list", "0"}).empty());
  CHECK(int_at(value, {"metadata", "generation"}) == 3);
  CHECK_FALSE(int_at(value, {"metadata", "name"}).has_value());
  CHECK(find(value, {"metadata", "name", "deeper"}) == nullptr);
  *find(value, {"metadata", "name"}) = "other";
  CHECK(string_at(value, {"metadata", "name"}) == "other");
}

TEST_CASE("what is no true at a path is false, and null is nothing or a value") {
  const Json value = {
      {"spec", {{"on", true}, {"off", false}, {"text", "true"}, {"null", nullptr}}}};
  CHECK(bool_at(value, {"spec", "on"}));
  for (const char* key : {"off", "text", "null", "absent"})
    CHECK_FALSE(bool_at(value, {"spec", key}));
  CHECK(present_at(value, {"spec", "off"}) == find(value, {"spec", "off"}));
  CHECK(present_at(value, {"spec", "null"}) == nullptr);
  CHECK(present_at(value, {"spec", "absent"}) == nullptr);
  CHECK(&value_at(value, {"spec", "text"}) == find(value, {"spec", "text"}));
  CHECK(value_at(value, {"spec", "absent", "deeper"}).is_null());
}

TEST_CASE("a list at a path is empty where there is none") {
  const Json value = {{"spec", {{"ports", {80, "http", nullptr}}, {"name", "web"}}}};
  CHECK(items_at(value, {"spec", "ports"}).size() == 3);
  CHECK(&items_at(value, {"spec", "ports"}) == find(value, {"spec", "ports"}));
  for (const char* key : {"name", "absent"}) {
    CHECK(items_at(value, {"spec", key}) == Json::array());
  }
  CHECK(items_at(value, {"spec"}) == Json::array());
  CHECK(items_at(value, {"spec", "name", "deeper"}) == Json::array());
  CHECK(items_at(Json::array({1, 2}), {}).size() == 2);
}

TEST_CASE("of a list at a path the strings are taken") {
  const Json value = {{"names", {"a", 1, "", nullptr, "b"}}, {"name", "web"}};
  CHECK(strings_at(value, {"names"}) == std::vector<std::string>{"a", "", "b"});
  CHECK(strings_at(value, {"name"}).empty());
  CHECK(strings_at(value, {"absent"}).empty());
}

TEST_CASE("a text is quoted as JSON quotes it, whatever its bytes") {
  CHECK(json_quoted("") == R"("")");
  CHECK(json_quoted("a\"b\\\n<&>\x1f") == R"("a\"b\\\n<&>\u001f")");
  CHECK(json_quoted("a\xff") == "\"a\xef\xbf\xbd\"");
}
