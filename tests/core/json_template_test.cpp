#include "core/json_template.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::core {

namespace {

// The List of kubectl's JSONPath page, in our words.
const Json& listed() {
  static const Json kList = Json::parse(R"({"kind":"List","items":[
    {"kind":"None","metadata":{"name":"127.0.0.1","labels":{"a.b/c":"d"}},
     "status":{"capacity":{"cpu":"4"},"addresses":[{"type":"LegacyHostIP","address":"127.0.0.1"}]}},
    {"kind":"None","metadata":{"name":"127.0.0.2"},
     "status":{"capacity":{"cpu":"8"},"addresses":[{"type":"Other","address":"127.0.0.2"},
                                                   {"type":"another","address":"127.0.0.3"}]}}],
    "users":[{"name":"myself","user":{}},
             {"name":"e2e","user":{"username":"admin","password":"secret"}}]})");
  return kList;
}

}  // namespace

TEST_CASE("null is null in a field, and no value where it is ranged over, as in kubectl") {
  const Json value = Json::parse(R"({"n":null,"a":[null,{"b":"<c>"}]})");
  const auto shown = [&](const char* text) { return *JsonTemplate::parse(text)->render(value); };
  CHECK(shown("{.n}") == "null");
  CHECK(shown("{.a[*]}") == R"(null {"b":"\u003cc\u003e"})");
  CHECK(shown("{range .a[*]}{@};{end}") == R"(<no value>;{"b":"\u003cc\u003e"};)");
  CHECK(shown("{range .a[*]}{.b};{end}") == ";<c>;");
}

TEST_CASE("templates print what kubectl's -o jsonpath prints") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kind is {.kind}", "kind is List"},
      {"{.kind}", "List"},
      {"{['kind']}", "List"},
      {"{@.kind}", "List"},
      {"{$.kind}", "List"},
      {"{..name}", "127.0.0.1 127.0.0.2 myself e2e"},
      {"{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"},
      {"{.users[0].name}", "myself"},
      {"{.users[-1:].name}", "e2e"},
      {"{.items[*]['metadata.name', 'status.capacity']}",
       R"(127.0.0.1 127.0.0.2 {"cpu":"4"} {"cpu":"8"})"},
      {"{.users[?(@.name==\"e2e\")].user.password}", "secret"},
      {"{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
       R"([127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] )"},
      {"{.items[0].metadata.labels.a\\.b/c}", "d"},
      {"{.items[0].metadata.labels['a\\.b/c']}", "d"},
      {"{range .items[*]}{.metadata.name}{\"\\t\"}{.status.capacity.cpu}{\"\\n\"}{end}",
       "127.0.0.1\t4\n127.0.0.2\t8\n"},
      {"{range .items[*]}{range .status.addresses[*]}{.address},{end}{\"\\n\"}{end}",
       "127.0.0.1,\n127.0.0.2,127.0.0.3,\n"},
      {"{range .items[*].metadata}{.name} {end}", "127.0.0.1 127.0.0.2 "},
      {"{range.users[*]}{.name};{end}", "myself;e2e;"},
      {"{.none}", ""},
      {"a{.none}b", "ab"},
      {"{range .none[*]}x{end}y", "y"},
      {"{\"{\"}{'}'}{\"\\u0041\"}", "{}A"},
      {"{1} {-2.5} {true}", "1 -2.5 true"},
      {"{ .kind }{ \"x\" }", "Listx"},
      {"no braces at all}", "no braces at all}"},
      {"{.items[1].status.addresses[?(@.type!=\"Other\")].address}", "127.0.0.3"},
      // Without braces kubectl would print the text itself; nobody wants that.
      {".kind", "List"},
      {"items[0].kind", "None"},
      {"", ""},
  };
  for (const auto& [text, wanted] : cases) {
    CAPTURE(text);
    const auto parsed = JsonTemplate::parse(text);
    REQUIRE(parsed.ok());
    const auto out = parsed->render(listed());
    REQUIRE(out.ok());
    CHECK(*out == wanted);
  }
}

TEST_CASE("a text has the escapes of Go's literals, and other bytes than characters") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"\a\b\f\n\r\t\v"})", "\a\b\f\n\r\t\v"},
      {R"({"\x41\x7E1"}{'\101\0601'})", "A~1A01"},
      {R"({"a\x00b\xff\377"})", std::string("a\0b\xff\xff", 5)},
      {R"({"\u00e9\U0001F600\U0000004ax"})", "\xc3\xa9\xf0\x9f\x98\x80Jx"},
      {R"({"\"\'\\\.\/\-"})", "\"'\\./-"},
      {R"({.items[?(@.status.capacity.cpu=="\x34")].metadata.name})", "127.0.0.1"},
      // A name between brackets is no such text.
      {R"({.items[0].metadata.labels['\a\.b/c']})", "d"},
  };
  for (const auto& [text, wanted] : cases) {
    CAPTURE(text);
    const auto parsed = JsonTemplate::parse(text);
    REQUIRE(parsed.ok());
    CHECK(*parsed->render(listed()) == wanted);
  }
}

TEST_CASE("an escape that is none is refused where it stands") {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> cases = {
      {R"({"\q"})", 2, R"('\q' is no escape)"},
      {R"({"ab\X41"})", 4, R"('\X' is no escape)"},
      {R"({"\x4"})", 2, "two hexadecimal digits"},
      {R"({"\x4g"})", 2, "two hexadecimal digits"},
      {R"({"\x)", 2, "two hexadecimal digits"},
      {R"({"\0"})", 2, "three octal digits up to 377"},
      {R"({"\18a"})", 2, "three octal digits up to 377"},
      {R"({"\400"})", 2, "three octal digits up to 377"},
      {R"({"\8"})", 2, "three octal digits up to 377"},
      {R"({"\u12"})", 2, "four hexadecimal digits of a character"},
      {R"({"\ud800"})", 2, "four hexadecimal digits of a character"},
      {R"({"\U00110000"})", 2, "eight hexadecimal digits of a character"},
      {R"({"\U0000d800"})", 2, "eight hexadecimal digits of a character"},
      {R"({.a[?(@.b=="\q")]})", 12, R"('\q' is no escape)"},
  };
  for (const auto& [text, place, what] : cases) {
    CAPTURE(text);
    std::size_t at = 999;
    const auto parsed = JsonTemplate::parse(text, &at);
    REQUIRE_FALSE(parsed.ok());
    CHECK(at == place);
    CHECK(parsed.error().message().find(what) != std::string::npos);
  }
}

TEST_CASE("what is wrong in a template is said with its place") {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> cases = {
      {"{.a", 0, "'{' is not closed"},
      {"x {range .a[*]}{.b}", 2, "{range} without {end}"},
      {"x{end}", 1, "{end} without {range}"},
      {"{range .a}{end}{end}", 15, "{end} without {range}"},
      {"{\"a}", 1, "a quote is not closed"},
      {"{\"a\"b}", 4, "'}' is expected"},
      {"{12x}", 1, "neither a path nor a number"},
      {"{.a[?(@.b==c)]}", 11, "a quoted text"},
      {".a[", 3, "an index"},
  };
  for (const auto& [text, place, what] : cases) {
    CAPTURE(text);
    std::size_t at = 999;
    const auto parsed = JsonTemplate::parse(text, &at);
    REQUIRE_FALSE(parsed.ok());
    CHECK(at == place);
    CHECK(parsed.error().message().find(what) != std::string::npos);
  }
}

TEST_CASE("a missing key fails where it is not allowed, and an index out of bounds always") {
  JsonTemplate::Limits strict;
  strict.allow_missing = false;
  CHECK_FALSE(JsonTemplate::parse("{.none}")->render(listed(), strict).ok());
  CHECK(JsonTemplate::parse("{.items[*].metadata.labels}")->render(listed(), strict).ok());
  CHECK_FALSE(JsonTemplate::parse("{.items[7].kind}")->render(listed()).ok());
}

TEST_CASE("a template prints no more than it may and nests no deeper") {
  JsonTemplate::Limits small;
  small.max_bytes = 10;
  const auto out =
      JsonTemplate::parse("{range .items[*]}{.metadata}{end}")->render(listed(), small);
  REQUIRE_FALSE(out.ok());
  CHECK(out.error().kind() == ErrorKind::too_large);
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{range .*}";
  CHECK_FALSE(JsonTemplate::parse(deep).ok());
  CHECK_FALSE(JsonTemplate::parse(std::string(2U << 20U, 'x')).ok());
}

TEST_CASE("relaxed paths are those of custom columns") {
  for (const auto* text : {"a.b", ".a.b", "{a.b}", "{.a.b}", " {.a.b} "}) {
    CAPTURE(text);
    REQUIRE(relaxed_path(text).ok());
    CHECK(*relaxed_path(text) == ".a.b");
  }
  CHECK(*relaxed_path("[0]") == "[0]");
  std::size_t at = 0;
  CHECK_FALSE(relaxed_path("{.a}{.b}", &at).ok());
  CHECK(at == 3);
  CHECK_FALSE(relaxed_path("").ok());
  CHECK_FALSE(relaxed_path("{.a[}", &at).ok());
  CHECK(at == 4);
}

}  // namespace kubewatch::core
