#include "base/yaml.hpp"

#include <chrono>
#include <string>

#include "base/json.hpp"
#include "base/yaml_document.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

namespace {

Json one(std::string_view text, const YamlLimits& limits = {}) {
  auto values = parse_yaml_values(text, limits);
  INFO(text);
  if (!values.ok()) FAIL(values.error().render());
  REQUIRE(values->size() == 1);
  return values->front();
}

std::string error_of(std::string_view text, const YamlLimits& limits = {}) {
  auto values = parse_yaml_values(text, limits);
  INFO(text.substr(0, 200));
  REQUIRE_FALSE(values.ok());
  return values.error().render();
}

}  // namespace

TEST_CASE("plain scalars have the types that sigs.k8s.io/yaml gives them") {
  struct Case {
    const char* text;
    Json value;
  };
  const Case cases[] = {
      {"y", true},
      {"Y", true},
      {"yes", true},
      {"Yes", true},
      {"YES", true},
      {"on", true},
      {"On", true},
      {"ON", true},
      {"true", true},
      {"True", true},
      {"TRUE", true},
      {"n", false},
      {"N", false},
      {"no", false},
      {"No", false},
      {"NO", false},
      {"off", false},
      {"Off", false},
      {"OFF", false},
      {"false", false},
      {"False", false},
      {"FALSE", false},
      {"yEs", "yEs"},
      {"tRUE", "tRUE"},
      {"oN", "oN"},
      {"null", nullptr},
      {"Null", nullptr},
      {"NULL", nullptr},
      {"~", nullptr},
      {"", nullptr},
      {"nULL", "nULL"},
      {"0", 0},
      {"12", 12},
      {"-12", -12},
      {"+12", 12},
      {"0x1F", 31},
      {"-0x1f", -31},
      {"0X1f", 31},
      {"0o17", 15},
      {"0O17", 15},
      {"017", 15},
      {"0b101", 5},
      {"1_000", 1000},
      {"08", 8},
      {"0x", "0x"},
      {"0xg", "0xg"},
      {"--1", "--1"},
      {"+-1", "+-1"},
      {"1-", "1-"},
      {"9223372036854775807", std::int64_t{9223372036854775807}},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"18446744073709551615", std::uint64_t{18446744073709551615U}},
      {"18446744073709551616", 18446744073709551616.0},
      {"1.5", 1.5},
      {"-1.5", -1.5},
      {".5", 0.5},
      {"5.", 5},
      {"1e3", 1000},
      {"1E-2", 0.01},
      {"+1.5e+1", 15},
      {"1.", 1},
      {"1e", "1e"},
      {".", "."},
      {"1.2.3", "1.2.3"},
      {"1e999", "1e999"},
      {"e3", "e3"},
      {"v1", "v1"},
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"1e-999", 0},
      {"2001-01-01", "2001-01-01"},
      {"2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"},
      {"12:30", "12:30"},
      {"100m", "100m"},
      {"1Gi", "1Gi"},
      {"\"yes\"", "yes"},
      {"'1'", "1"},
      {"\"\"", ""},
      {"''", ""},
      {"\"null\"", "null"},
      {"=", "="},
      {"a b", "a b"},
      {"!!str 1", "1"},
      {"!!str yes", "yes"},
      {"!!int \"7\"", 7},
      {"!!bool \"yes\"", true},
      {"!!float 1", 1},
      {"!!null ''", nullptr},
      {"!!binary aGVsbG8=", "hello"},
      {"!!timestamp 2001-01-01", "2001-01-01"},
      {"!custom 1", "1"},
      {"! 1", "1"},
      {"!!python/object:os.system x", "x"},
      {"!!set {a: 1}", Json{{"a", 1}}},
  };
  for (const Case& c : cases) {
    const Json document = one(std::string("v: ") + c.text);
    INFO(c.text);
    CHECK(document["v"] == c.value);
    CHECK(document["v"].type_name() == std::string(c.value.type_name()));
  }
}

TEST_CASE("integers stay exact beyond 2^53") {
  CHECK(dump_json(one("a: 9007199254740993")) == "{\"a\":9007199254740993}");
}

TEST_CASE("mapping keys that are no strings become strings") {
  CHECK(one("1: a\n2.5: b\ntrue: c\non2: d\n0x10: e\n") ==
        Json{{"1", "a"}, {"2.5", "b"}, {"true", "c"}, {"on2", "d"}, {"16", "e"}});
  CHECK(one("on: push") == Json{{"true", "push"}});
  CHECK(error_of("~: a") == "1:1: a mapping key must not be null");
  CHECK(error_of("? [a]\n: b") == "1:3: a mapping key must be a single value");
}

TEST_CASE("block, flow and multi-line forms are read") {
  CHECK(one("a:\n- 1\n- b: |\n    x\n    y\n  c: >-\n    p\n    q\n") ==
        Json{{"a", {1, {{"b", "x\ny\n"}, {"c", "p q"}}}}});
  CHECK(one("{\"a\":[1,{\"b\":null}],\"c\":\"\\u00e9\"}") ==
        Json{{"a", {1, {{"b", nullptr}}}}, {"c", "é"}});
  CHECK(one("{\n\t\"a\": 1\n}") == Json{{"a", 1}});
  CHECK(one("\xef\xbb\xbf"
            "a: 1") == Json{{"a", 1}});
}

TEST_CASE("a byte order mark at the start is no text") {
  const auto documents = parse_yaml(
      "\xef\xbb\xbf"
      "a: 1\n");
  REQUIRE(documents.ok());
  CHECK(documents->front().value["a"] == 1);
  CHECK(documents->front().marks.value_at("/a").column == 4);
  CHECK(parse_yaml_values("\xef\xbb\xbf{\"a\": 1}")->front()["a"] == 1);
}

TEST_CASE("each document may begin with a byte order mark, as when files were put together") {
  const std::string mark = "\xef\xbb\xbf";
  const std::vector<Json> both{Json{{"a", 1}}, Json{{"b", "x" + mark}}};
  for (const std::string& text : {mark + "a: 1\n---\n" + mark + "b: x" + mark + "\n",
                                  mark + "a: 1\n" + mark + "---\nb: x" + mark,
                                  "a: 1\n" + mark + "---\n" + mark + "b: x" + mark + "\n",
                                  "a: 1\r\n---\r\n" + mark + "b: x" + mark + "\r\n"}) {
    INFO(text);
    const auto values = parse_yaml_values(text);
    REQUIRE(values.ok());
    CHECK(*values == both);
  }
  const auto marks = parse_yaml("a: 1\n---\n" + mark + "b: 1\n");
  REQUIRE(marks.ok());
  CHECK(marks->back().marks.value_at("/b").column == 4);
  CHECK_FALSE(parse_yaml_values("a: 1\n" + mark + "b: 1\n").ok());
}

TEST_CASE("a text in UTF-16 is told from broken UTF-8, with the cure") {
  for (const std::string_view text : {std::string_view("\xff\xfe"
                                                       "a\0:\0",
                                                       6),
                                      std::string_view("\xfe\xff\0a", 4)}) {
    const auto refused = parse_yaml_values(text);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().render().find("iconv -f UTF-16") != std::string::npos);
  }
}

TEST_CASE("empty documents are dropped and the others keep their order") {
  auto values = parse_yaml_values("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n~\n");
  REQUIRE(values.ok());
  CHECK(*values == std::vector<Json>{Json{{"a", 1}}, Json{{"b", 2}}});
  CHECK(parse_yaml_values("")->empty());
  CHECK(parse_yaml_values("# only a comment\n")->empty());
}

TEST_CASE("anchors, aliases and merge keys are resolved") {
  CHECK(one("a: &x [1, 2]\nb: *x") == Json{{"a", {1, 2}}, {"b", {1, 2}}});
  CHECK(one("b: &b {x: 1, w: 2}\nc:\n  <<: *b\n  w: 3\n")["c"] == Json{{"x", 1}, {"w", 3}});
  CHECK(one("b: &b {x: 1, w: 2}\nc:\n  w: 3\n  <<: *b\n")["c"] == Json{{"x", 1}, {"w", 3}});
  CHECK(one("- &a {x: 1}\n- &b {x: 2, z: 3}\n- <<: [*a, *b]\n")[2] == Json{{"x", 1}, {"z", 3}});
  CHECK(one("a: {<<: {p: 1}, q: 2}")["a"] == Json{{"p", 1}, {"q", 2}});
  CHECK(one("\"<<\": 1") == Json{{"<<", 1}});
  CHECK(one("- &k key\n- {*k : 1}")[1] == Json{{"key", 1}});
}

TEST_CASE("what is not valid YAML is an error that names line and column") {
  struct Case {
    const char* text;
    const char* begins;
  };
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\n", "3:1: key \"a\" appears twice"},
      {"1: a\n\"1\": b\n", "2:1: key \"1\" appears twice"},
      {"y: 1\non: 2\n", "2:1: key \"on\", which YAML reads as true, appears twice"},
      {"true: 1\ntrue: 2\n", "2:1: key \"true\" appears twice"},
      {"a: *x", "1:4: unknown anchor \"x\""},
      {"a: &x [*x]", "1:8: anchor \"x\" contains itself"},
      {"&x a: 1\n---\nb: *x\n", "3:4: unknown anchor \"x\""},
      {"a: \"unterminated\n", "2:1: found unexpected end of stream"},
      {"ok: 1\n---\na: \"unterminated\n", "4:1: found unexpected end of stream"},
      {"a: [1, 2", "2:1: did not find expected ',' or ']'"},
      {"a: b: c", "1:5: mapping values are not allowed"},
      {"a:\n\t- b", "2:1: a tab: YAML is indented by blanks alone"},
      {"a: 1\n b: 2", "2:3: mapping values are not allowed"},
      {"a: \xff", "1:4: not valid UTF-8"},
      {"x: 1\na: \"\xc3\"", "2:5: not valid UTF-8"},
      {"a: \x01", "1:4: control characters are not allowed"},
      {"a: .nan", "1:4: .nan is a number that JSON does not have"},
      {"a: -.inf", "1:4: -.inf is a number that JSON does not have"},
      {"a: !!int x", "1:4: \"x\" is tagged as !!int but is none"},
      {"a: !!bool 3", "1:4: \"3\" is tagged as !!bool but is none"},
      {"a: !!float x", "1:4: \"x\" is tagged as !!float but is none"},
      {"a: !!null x", "1:4: \"x\" is tagged as !!null but is none"},
      {"a: !!binary '*'", "1:4: not valid base64"},
      {"a: !!binary /w==", "1:4: !!binary data that is not UTF-8"},
      {"<<: 1", "1:5: \"<<\" needs a mapping"},
      {"<<: [1]", "1:5: \"<<\" needs a mapping"},
      {"a: &a {}\n<<: *a\n<<: *a", "3:1: key \"<<\" appears twice"},
      {"- &l [1]\n- {*l : 1}", "2:4: an alias as a mapping key must be a string"},
      {"a: 'x' y", "1:8: did not find expected"},
      {"}", "1:1: did not find expected node content"},
      {"a: %x", "1:4: found character that cannot start any token"},
      {"{\"a\":1} {\"a\":1,\"a\":2}", "1:9: key \"a\" appears twice"},
      {"{\"a\":1} x", "1:9: not a JSON document"},
  };
  for (const Case& c : cases) {
    const std::string message = error_of(c.text);
    INFO(c.text);
    CHECK(message.substr(0, std::string(c.begins).size()) == c.begins);
  }
}

TEST_CASE("a tab that indents is called one") {
  const std::string words = "a tab: YAML is indented by blanks alone";
  CHECK(error_of("a:\n\tb: 1\n") == "2:1: " + words);
  CHECK(error_of("a:\n  b:\n  \tc: 1\n").find(words) != std::string::npos);
  CHECK(error_of("a: '\tx\n").find(words) == std::string::npos);
  // A tab that may stand there is not what is wrong.
  CHECK(error_of("a: {b: c,\n\td: @e}").find(words) == std::string::npos);
}

TEST_CASE("an error inside an open construct says where that began") {
  CHECK(error_of("a:\n  b: 'x\n").find("that began at 2:6") != std::string::npos);
}

TEST_CASE("JSON that YAML does not cover is read as JSON") {
  auto values = parse_yaml_values("{\"a\":1}\n{\"b\":\"\\ud83d\\ude00\"}\n[2]");
  REQUIRE(values.ok());
  CHECK(*values == std::vector<Json>{Json{{"a", 1}}, Json{{"b", "😀"}}, Json{2}});
  auto documents = parse_yaml("{\"a\":1}\n  {\"b\":2}");
  REQUIRE(documents.ok());
  CHECK((*documents)[1].marks.value_at("/b").line == 2);
  CHECK((*documents)[1].marks.value_at("/b").column == 3);
  YamlLimits limits;
  limits.max_documents = 2;
  CHECK(error_of("{}{}{}", limits).find("more than 2 documents") != std::string::npos);
}

TEST_CASE("the positions of many JSON documents cost one walk through the text") {
  constexpr std::size_t kMany = 50'000;
  const std::string one = "{\"a\":\"" + std::string(70, 'x') + "ü\"} {}\n";
  std::string text;
  for (std::size_t i = 0; i < kMany; ++i) text += one;
  const auto begun = std::chrono::steady_clock::now();
  const auto documents = parse_yaml(text);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));  // else many minutes
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2 * kMany);
  const YamlMark last = documents->back().marks.value_at("");
  CHECK(last.line == kMany);
  CHECK(last.column == 81);
  CHECK(documents->at(2).marks.value_at("").line == 2);
}

TEST_CASE("JSON documents between lines of --- are read as JSON") {
  auto values = parse_yaml_values("---\n{\"a\":1}\n---\n---  \n{\"b\":[]} \n--- [2]\n---");
  REQUIRE(values.ok());
  CHECK(*values == std::vector<Json>{Json{{"a", 1}}, Json{{"b", Json::array()}}, Json::array({2})});
  // YAML would end a line at each of these, and drop or move the spaces beside it.
  const std::string lines = "x \xc2\x85 y \xe2\x80\xa8 z";
  CHECK(parse_yaml_values("{\"a\": \"" + lines + "\"}")->front()["a"] == lines);
  CHECK(error_of("{\"a\":1}\n----\n{}").starts_with("2:1: "));
  CHECK(error_of("{\"a\":1} ---\n{}").starts_with("1:9: "));
}

TEST_CASE("text that only begins like JSON is YAML") {
  CHECK(one("{\"a\": 1} # why\n") == Json{{"a", 1}});
  CHECK(one("{a: 1, \"b\": yes}") == Json{{"a", 1}, {"b", true}});
  CHECK(one("{\"a\": 010}") == Json{{"a", 8}});
  auto values = parse_yaml_values("{\"a\": 1}\n---\nb: 2\n");
  REQUIRE(values.ok());
  CHECK(*values == std::vector<Json>{Json{{"a", 1}}, Json{{"b", 2}}});
}

TEST_CASE("a number of JSON is what the YAML reader makes of it") {
  for (const char* number :
       {"0", "-0", "7", "-7", "1.0", "1.5", "-2.50", "1e3", "1E-2", "1e400", "-1e400", "1e-400",
        "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "12e20"}) {
    INFO(number);
    // A comment makes the same text YAML.
    const Json json = one("[" + std::string(number) + "]");
    const Json yaml = one("[" + std::string(number) + "] #");
    CHECK(json == yaml);
    CHECK(json[0].type() == yaml[0].type());
  }
}

TEST_CASE("JSON keeps the limits and the places of YAML") {
  YamlLimits limits;
  limits.max_nodes = 5;
  CHECK(one("{\"a\":[1,2]}", limits) == Json{{"a", {1, 2}}});
  CHECK(error_of("{\"a\":[1,2,3]}", limits) == "1:11: more than 5 values");
  CHECK(error_of("{\"a\":1}\n---\n{\"a\":1}", limits).find("more than 5 values") !=
        std::string::npos);
  limits.max_depth = 2;
  CHECK(one("[[1]]", limits) == Json::array({Json::array({1})}));
  CHECK(error_of("[[[1]]]", limits) == "1:3: nested deeper than 2 levels");
  // Where YAML cannot read it, the document's place.
  CHECK(error_of("{}\n {\"a\":[[1]]}", limits) == "2:2: nested deeper than 2 levels");
  CHECK(error_of("{\"a\":{\"b\":1,\n\"b\":2}}") == "2:1: key \"b\" appears twice");
}

TEST_CASE("of JSON documents one after the other the broken one is told, with its place") {
  CHECK(error_of("{\"a\":1}\n{\"b\":1,\n \"b\":2}") == "2:1: key \"b\" appears twice");
  CHECK(error_of("{\"a\":1}\n{\"b\":1,\n \"c\":}") == "3:6: not valid JSON");
  CHECK(error_of("[]\n[]\n{\"a\":[1,2}") == "3:1: a JSON document does not end");
  CHECK(error_of("{} {} x") == "1:7: not a JSON document");
  // After a line of --- it could be YAML, and YAML's reader says more.
  CHECK(error_of("{\"a\":1}\n---\n{\"b\":1, \"b\":2}") == "3:9: key \"b\" appears twice");
}

TEST_CASE("limits end bombs quickly with an error") {
  CHECK(error_of(std::string(100000, '[')) == "1:101: nested deeper than 100 levels");
  CHECK(error_of(std::string(100000, '{')) == "1:2: a mapping key must be a single value");
  std::string dashes;
  for (int i = 0; i < 100000; ++i) dashes += "- ";
  CHECK(error_of(dashes).find("nested deeper") != std::string::npos);
  std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) laughs += (j != 0 ? ", " : "") + before;
    laughs += "]\n";
  }
  CHECK(error_of(laughs).find("aliases repeat more than 100000 values") != std::string::npos);
  std::string long_text = "a: &a " + std::string(1U << 20U, 'x') + "\nb:\n";
  for (int i = 0; i < 100; ++i) long_text += "- *a\n";
  CHECK(error_of(long_text).find("repeat more than") != std::string::npos);
  std::string ladder = "- &a0 [x]\n";
  for (int i = 1; i < 150; ++i) {
    ladder += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  CHECK(error_of(ladder).find("nested deeper") != std::string::npos);
  std::string tags;
  for (int i = 0; i < 5000; ++i) tags += "%TAG !t" + std::to_string(i) + "! x\n";
  CHECK(error_of(tags + "--- a").find("too many %TAG lines") != std::string::npos);
}

TEST_CASE("each limit is its own error of kind too_large") {
  YamlLimits limits;
  limits.max_bytes = 10;
  auto result = parse_yaml_values("a: 1234567890", limits);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().kind() == ErrorKind::too_large);
  limits = {};
  limits.max_nodes = 5;
  CHECK(error_of("[1,2,3,4,5]", limits) == "1:10: more than 5 values");
  limits = {};
  limits.max_documents = 2;
  CHECK(error_of("a\n---\nb\n---\nc\n", limits) == "4:1: more than 2 documents");
  CHECK(parse_yaml("---\na\n---\n---\nb\n---\n", limits)->size() == 2);
  limits.documents_are = "operations";
  CHECK(error_of("a\n---\nb\n---\nc\n", limits) == "4:1: more than 2 operations");
  CHECK(error_of("{}{}{}", limits) == "1:5: more than 2 operations");
  std::string empty;
  for (int i = 0; i < 100'001; ++i) empty += "---\n";
  CHECK(error_of(empty, limits) == "100001:1: more than 100000 empty documents");
  limits = {};
  limits.max_depth = 2;
  CHECK(parse_yaml_values("[[1]]", limits).ok());
  CHECK(error_of("[[[1]]]", limits) == "1:3: nested deeper than 2 levels");
}

TEST_CASE("a ten megabyte file is read") {
  std::string text;
  while (text.size() < (10U << 20U)) text += "- name: something\n  value: \"quoted text\"\n";
  auto values = parse_yaml_values(text);
  REQUIRE(values.ok());
  CHECK(values->front().size() > 200000);
}

TEST_CASE("marks give the line and column of values and keys by JSON pointer") {
  auto documents = parse_yaml("a: 1\nb/c:\n  - x\n  - y~: {k: v}\n---\nz: &q [1]\nw: *q\n");
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  const auto at = [](YamlMark mark) {
    return std::to_string(mark.line) + ":" + std::to_string(mark.column);
  };
  const YamlMarks& marks = (*documents)[0].marks;
  CHECK(at(marks.value_at("")) == "1:1");
  CHECK(at(marks.value_at("/a")) == "1:4");
  CHECK(at(marks.key_at("/a")) == "1:1");
  CHECK(at(marks.key_at("/b~1c")) == "2:1");
  CHECK(at(marks.value_at("/b~1c/0")) == "3:5");
  CHECK(at(marks.key_at("/b~1c/1/y~0")) == "4:5");
  CHECK(at(marks.value_at("/b~1c/1/y~0/k")) == "4:13");
  CHECK(at(marks.value_at("/b~1c/1/nothing/here")) == "4:5");
  const YamlMarks& second = (*documents)[1].marks;
  CHECK(at(second.value_at("/w")) == "7:4");
  CHECK(at(second.value_at("/w/0")) == "7:4");
  CHECK(at(second.value_at("/z/0")) == "6:8");
}

TEST_CASE("a key that YAML made of a boolean is told from one in quotes") {
  auto documents = parse_yaml("{y: 1, a: {'true': 1}, l: &l {n: 1}, m: *l}");
  REQUIRE(documents.ok());
  const YamlMarks& marks = (*documents)[0].marks;
  CHECK_FALSE(marks.key_is_text("/true"));
  CHECK(marks.key_is_text("/a"));
  CHECK(marks.key_is_text("/a/true"));
  CHECK_FALSE(parse_yaml("{off: 1}")->front().marks.key_is_text("/false"));
  CHECK(parse_yaml("{\"false\": 1}")->front().marks.key_is_text("/false"));
  // What an alias copies has no keys of its own.
  CHECK_FALSE(marks.key_is_text("/m/false"));
  CHECK(YamlMarks().key_is_text("/true"));
}

TEST_CASE("what is written reads back identically") {
  const std::string texts[] = {"yes",
                               "y",
                               "No",
                               "on",
                               "0x1",
                               "1e3",
                               "",
                               "a: b",
                               "line\nline\n",
                               "line\nline",
                               "\n",
                               "a\n",
                               "null",
                               "~",
                               " lead",
                               "trail ",
                               "  ",
                               "é😀",
                               "2001-01-01",
                               "#x",
                               "a #b",
                               "a#b",
                               "- x",
                               "-",
                               "--",
                               "---",
                               "...",
                               "? x",
                               ": x",
                               "x:",
                               "[a]",
                               "{a}",
                               "&a",
                               "*a",
                               "!x",
                               "|",
                               ">",
                               "'q'",
                               "\"q\"",
                               "%x",
                               "@x",
                               "`x",
                               "a\tb",
                               "\t",
                               "a\rb",
                               "\x01",
                               "\x7f",
                               "a\\b",
                               "\xc2\x85",
                               "\xe2\x80\xa8",
                               "\xef\xbb\xbf",
                               "1",
                               "-1",
                               "1.5",
                               ".5",
                               "1_000",
                               "017",
                               "0o17",
                               ".nan",
                               "-.inf",
                               "<<",
                               "=",
                               "12:30",
                               "1:30:00",
                               "true",
                               "False",
                               "a,b",
                               "a\n\nb\n",
                               "\na\n",
                               " a\nb\n",
                               "a \nb\n",
                               "a\nb\n\n",
                               "a\n  b\nc\n",
                               "a\n\tb\n",
                               "key: |\n  x\n",
                               "10.0.0.0/8",
                               "http://x:80/y",
                               "app.kubernetes.io/name",
                               "*",
                               "a*",
                               "100m",
                               "\xf0\x90\x80\x80",
                               "x y  z",
                               std::string(2000, 'k'),
                               std::string(300, 'w') + " " + std::string(300, 'v')};
  for (const std::string& text : texts) {
    INFO(text);
    const Json value = {{"v", text}, {"list", {text, {{text + "k", text}}, {text}}}, {text, 1}};
    const std::string yaml = dump_yaml(value);
    INFO(yaml);
    CHECK(one(yaml) == value);
    CHECK(one(dump_yaml(text)) == Json(text));
  }
}

TEST_CASE("numbers, empty collections and nesting read back identically") {
  const Json value = {{"i", -5},
                      {"big", 9223372036854775807},
                      {"u", 18446744073709551615U},
                      {"f", 1.25},
                      {"e", 1e100},
                      {"small", 1e-7},
                      {"t", true},
                      {"n", nullptr},
                      {"o", Json::object()},
                      {"a", Json::array()},
                      {"deep", {{{"x", {{{"y", {1, {2, 3}}}}}}}, Json::array({Json::array()})}}};
  INFO(dump_yaml(value));
  CHECK(one(dump_yaml(value)) == value);
  CHECK(dump_yaml(Json::object()) == "{}\n");
}

TEST_CASE("written YAML is block style with plain words and literal text") {
  const Json value = {{"apiVersion", "v1"},
                      {"data", {{"script", "#!/bin/sh\necho hi\n"}, {"port", "80"}}},
                      {"list", {"a", "b"}}};
  CHECK(dump_yaml(value) ==
        "apiVersion: v1\ndata:\n  port: \"80\"\n  script: |\n    #!/bin/sh\n    echo hi\nlist:\n"
        "  - a\n  - b\n");
}

TEST_CASE("invalid UTF-8 is replaced when it is written") {
  CHECK(one(dump_yaml(Json{{"a", "x\xff"}})) == Json{{"a", "x\xef\xbf\xbd"}});
}
