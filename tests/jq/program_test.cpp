#include <chrono>

#include "jq/jq.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::jq;

namespace {

// Long enough for a busy machine.
Limits patient() {
  Limits limits;
  limits.deadline = Duration(60000);
  return limits;
}

Program compiled(std::string_view text) {
  auto program = Program::compile(text);
  INFO(text);
  if (!program.ok()) FAIL(program.error().render());
  return *std::move(program);
}

Json only(std::string_view text, const Json& input = nullptr) {
  auto outputs = compiled(text).run(input, patient());
  INFO(text);
  if (!outputs.ok()) FAIL(outputs.error().render());
  REQUIRE(outputs->size() == 1);
  return outputs->front();
}

Error run_error(std::string_view text, const Json& input = nullptr,
                const Limits& limits = patient()) {
  auto outputs = compiled(text).run(input, limits);
  INFO(text);
  REQUIRE_FALSE(outputs.ok());
  return outputs.error();
}

using Path = std::vector<std::string>;

}  // namespace

TEST_CASE("the common subset is evaluated here and the rest by libjq") {
  for (const char* text :
       {".", ".spec.paused != true", "{name: .a, namespace: .b}", ".a // \"x\"",
        ".spec.ref | {name, namespace}", "[.items[] | select(.a) | .b] | join(\",\")",
        "if .a then .b else .c end", ". as $x | $x", ""}) {
    INFO(text);
    CHECK(compiled(text).native());
    CHECK(compiled(text).text() == text);
  }
  for (const char* text :
       {"..", ".a |= 1", "test(\"x\")", "reduce .[] as $x (0; . + $x)", "def f: 1; f", "@base64",
        "del(.a)", ". as [$a] | $a", "[paths]", "now", "getpath([\"a\"])"}) {
    INFO(text);
    CHECK_FALSE(compiled(text).native());
  }
}

TEST_CASE("both engines give all outputs in order") {
  const Json input = {{"a", {1, 2, 3}}};
  CHECK(*compiled(".a[]").run(input, patient()) == std::vector<Json>{1, 2, 3});
  CHECK(*compiled("[..|numbers]|.[]").run(input, patient()) == std::vector<Json>{1, 2, 3});
  CHECK(compiled("empty").run(input, patient())->empty());
  CHECK(compiled("..|strings").run(input, patient())->empty());
  CHECK(only("del(.a[0])", input) == Json{{"a", {2, 3}}});
  CHECK(only("\"x-\\(.a|length)\" | test(\"^x-[0-9]$\")", input) == true);
  CHECK(only(". as {a: [$x]} | \"é😀\\($x)\"", input) == "é😀1");
}

TEST_CASE("integers beyond 2^53 stay exact") {
  const Json input = {{"n", 9007199254740993}, {"u", 18446744073709551615U}};
  CHECK(only(".n", input).dump() == "9007199254740993");
  CHECK(only(".n + 1", input).dump() == "9007199254740994");
  CHECK(only(".n == 9007199254740992", input) == false);
  CHECK(only(".u - 1", input).dump() == "18446744073709551614");
  CHECK(only("\"\\(.n)\"", input) == "9007199254740993");
  CHECK(only("9223372036854775807 + 1").dump() == "9223372036854775808");
  CHECK(only("9007199254740993 * 3").dump() == "27021597764222979");
  CHECK(only("9007199254740994 / 2").dump() == "4503599627370497");
  CHECK(only("-9223372036854775807 - 1 | . % -1") == 0);
  CHECK(only("1e308 * 10").dump() == "1.7976931348623157e+308");
  CHECK(only("18446744073709551615 + 1") == 18446744073709551616.0);
}

TEST_CASE("test is the truth of the first output") {
  const auto test = [](std::string_view text, const Json& input = nullptr) {
    auto result = compiled(text).test(input, patient());
    if (!result.ok()) FAIL(result.error().render());
    return *result;
  };
  CHECK(test("true"));
  CHECK(test("0"));
  CHECK_FALSE(test("null"));
  CHECK_FALSE(test("false, true"));
  CHECK_FALSE(test("empty"));
  CHECK(test("1, error(\"x\")"));
  CHECK_FALSE(test(".a", Json{{"b", 1}}));
  CHECK(test("test(\"a\")", "bab"));
  CHECK_FALSE(test("test(\"a\"), true", "b"));
  CHECK(test("..,error(\"x\")", 1));
  CHECK_FALSE(test("[..][9]", 1));
  CHECK(compiled(".a").test(5, patient()).error().kind() == ErrorKind::invalid);
  CHECK(compiled("..|.a").test(5, patient()).error().kind() == ErrorKind::invalid);
}

TEST_CASE("jq errors keep jq's words and name the program") {
  CHECK(run_error(".a", 5).message() == "Cannot index number with string \"a\"");
  CHECK(run_error(".a", 5).render() == "jq '.a': Cannot index number with string \"a\"");
  CHECK(run_error(".a", 5).kind() == ErrorKind::invalid);
  CHECK(run_error("error({a:1})").message() == "(not a string): {\"a\":1}");
  CHECK(run_error("..|.a", 5).message() == "Cannot index number with string \"a\"");
  CHECK(run_error("..|error({a:1})").message() == "(not a string): {\"a\":1}");
}

TEST_CASE("a program that is none is refused with the character") {
  struct Case {
    const char* text;
    const char* begins;
  };
  const Case cases[] = {
      {".a[", "character 4: the program ends too early"},
      {".a b", "character 4: unexpected \"b\""},
      {"é + ", "character 1: unexpected character"},
      {"\"é\" + ", "character 7: the program ends too early"},
      {"\"abc", "character 1: a string is not closed"},
      {"\"a\\(1", "character 1: a string is not closed"},
      {"\"a\\q\"", "character 3: unknown escape in a string"},
      {"\"\\u12x4\"", "character 2: \\u needs four hexadecimal digits"},
      {"nosuch(1)", "character 1: nosuch/1 is not defined"},
      {".a | nosuch", "character 6: nosuch/0 is not defined"},
      {"$x", "character 2: $x is not defined"},
      {"{a:1 b:2}", "character 6: expected \",\""},
      {"if . then 1", "character 12: expected \"elif\", \"else\" or \"end\""},
      {"1 == 2 == 3", "character 8: comparisons do not chain"},
      {".a &", "character 4: unexpected character"},
      {"..|nosuch", "character 1: .. (nosuch/0 is not defined"},
      {".[:]", "character 4: unexpected \"]\""},
      {"(1", "character 3: expected \")\""},
      {"try", "character 4: the program ends too early"},
      {"{(1}", "character 4: expected \")\""},
  };
  for (const Case& c : cases) {
    auto program = Program::compile(c.text);
    INFO(c.text);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().kind() == ErrorKind::invalid);
    CHECK(program.error().message().substr(0, std::string(c.begins).size()) == c.begins);
  }
}

TEST_CASE("what a rule must not use is refused by name, wherever it stands") {
  const std::pair<const char*, const char*> cases[] = {
      {"input", "character 1: \"input\""},
      {".a | inputs", "character 6: \"inputs\""},
      {"debug", "\"debug\""},
      {"stderr", "\"stderr\""},
      {"input_filename", "\"input_filename\""},
      {"halt", "\"halt\""},
      {"halt_error", "\"halt_error\""},
      {"1|halt_error(3)", "\"halt_error\""},
      {"import \"a\" as a; 1", "\"import\""},
      {"include \"a\"; 1", "\"include\""},
      {"env", "\"env\""},
      {"env.HOME", "\"env\""},
      {"$ENV.PATH", "\"$ENV\""},
      {"$ ENV", "\"$ENV\""},
      {"$__loc__", "\"$__loc__\""},
      {"{$__loc__}", "\"$__loc__\""},
      {"\"a\\(env)\"", "\"env\""},
      {"{a: env}", "\"env\""},
      {"[1, env]", "\"env\""},
      {"{a: [1, env, 2]}", "\"env\""},
      {"{(env): 1}", "\"env\""},
      {"def f: input; f", "\"input\""},
      {"m::f", "\"m::f\""},
      {"modulemeta", "\"modulemeta\""},
      {"input_line_number", "\"input_line_number\""}};
  for (const auto& [text, word] : cases) {
    auto program = Program::compile(text);
    INFO(text);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().message().find(word) != std::string::npos);
    CHECK(program.error().message().find("must not be used") != std::string::npos);
  }
}

TEST_CASE("fields and keys may have the names of forbidden functions") {
  CHECK(only(".env", Json{{"env", 1}}) == 1);
  CHECK(only("{env: 1, input: .halt}", Json{{"halt", 2}}) == Json{{"env", 1}, {"input", 2}});
  CHECK(only("{input, env}", Json{{"env", 1}}) == Json{{"input", nullptr}, {"env", 1}});
  CHECK(only("{a: 1, env}|..|.env?", Json{{"env", 7}}).is_number());
  CHECK(only("\"input env\"") == "input env");
  CHECK(only(".[\"env\"] # input", Json{{"env", 1}}) == 1);
  CHECK(only("1 as $input | $input") == 1);
}

TEST_CASE("object values may have operators, as in jq 1.7") {
  CHECK(only("{a: 1 + 2, b: .x // 3 | . + 1, c: .y == null}") ==
        Json{{"a", 3}, {"b", 4}, {"c", true}});
  CHECK(only("if .a then 1 end", Json{{"b", 1}}) == Json{{"b", 1}});
}

TEST_CASE("plain paths are recognized") {
  const std::pair<const char*, Path> paths[] = {
      {".", {}},
      {"", {}},
      {".a", {"a"}},
      {".a.b.c", {"a", "b", "c"}},
      {".a[\"b\"]", {"a", "b"}},
      {".[\"a b\"].c", {"a b", "c"}},
      {".a.\"b/c\"", {"a", "b/c"}},
      {"(.a).b", {"a", "b"}},
      {".metadata.annotations[\"kubectl.kubernetes.io/x\"]",
       {"metadata", "annotations", "kubectl.kubernetes.io/x"}}};
  for (const auto& [text, path] : paths) {
    INFO(text);
    CHECK(compiled(text).as_path() == path);
  }
  for (const char* text : {".a[0]", ".a[]", ".a?", ".a|.b", ".a,.b", "1", "..", ".a[\"x\\(1)\"]",
                           "{a}", ".[.a]", ".a[1:]", "del(.a)"}) {
    INFO(text);
    CHECK_FALSE(compiled(text).as_path().has_value());
  }
}

TEST_CASE("a program tells which places of its input it looks at, as far as its text says so") {
  using Paths = std::vector<std::vector<std::string>>;
  const std::vector<std::pair<const char*, Paths>> programs = {
      {".", {}},
      {"1", {}},
      {".a.b", {{"a"}, {"a", "b"}}},
      {".a | .b", {{"a"}, {"a", "b"}}},
      {".a[\"b c\"]?", {{"a"}, {"a", "b c"}}},
      {".a and .b == 1", {{"a"}, {"b"}}},
      {"select(.a) | .b", {{"a"}, {"b"}}},
      {".a | has(\"b\")", {{"a"}, {"a", "b"}}},
      {"if .a then .b else .c end", {{"a"}, {"b"}, {"c"}}},
      {".a // \"\" | .b", {{"a"}}},
      {".a[] | .b", {{"a"}}},
      {".a | map(.b)", {{"a"}}},
      {".a as $x | .b", {{"a"}, {"b"}}},
      {"{x: .a}", {{"a"}}},
      {"try .a catch .b", {{"a"}}},
      {"[.a, \"\\(.b)\"]", {{"a"}, {"b"}}},
      {"first(.a), limit(.b; .c)", {{"a"}, {"b"}, {"c"}}},
      {"any(.a[]; .b)", {{"a"}}},
      {".a | values | .b", {{"a"}, {"a", "b"}}},
      {"with_entries(.a)", {}},
      {"path(.a)", {}}};  // of libjq
  for (const auto& [text, paths] : programs) {
    INFO(text);
    CHECK(compiled(text).reads() == paths);
  }
}

TEST_CASE("a native program that would not end is stopped") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run_error("[range(1e12)]").kind() == ErrorKind::too_large);
  CHECK(run_error("last(range(1e12))").kind() == ErrorKind::too_large);
  CHECK(run_error("[range(0;1;1e-320)]").kind() == ErrorKind::too_large);
  CHECK(run_error("[range(1e300;1e301;1)]").kind() == ErrorKind::too_large);
  CHECK(run_error("\"x\" * 1e9").kind() == ErrorKind::too_large);
  CHECK(run_error("[range(20000)] | . - map(. + 1)").kind() == ErrorKind::too_large);
  std::string doubling = "\"xxxxxxxxxx\"";
  for (int i = 0; i < 40; ++i) doubling += "|.+.";
  CHECK(run_error(doubling).kind() == ErrorKind::too_large);
  std::string lists = "[1]";
  for (int i = 0; i < 40; ++i) lists += "|[.,.]";
  CHECK(run_error(lists).kind() == ErrorKind::too_large);
  // A budget is no jq error: the program cannot catch it.
  CHECK(run_error("try [range(1e12)] catch 1").kind() == ErrorKind::too_large);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(50));
  Limits limits;
  limits.deadline = Duration(0);
  CHECK(run_error("last(range(1e12))", nullptr, limits).kind() == ErrorKind::timeout);
}

TEST_CASE("comparing each with each is bounded over all levels") {
  // Lists whose ends alone differ: each pair of them is below the bound.
  const auto lists = [](int first, const std::vector<int>& last) {
    std::vector<int> one(1500, first);
    one.insert(one.end(), last.begin(), last.end());
    return Json(std::vector<Json>(4, Json(one)));
  };
  const Json input = {{"a", lists(0, {1})}, {"b", lists(1, {1, 2})}};
  CHECK(run_error(". as $x | .a | contains($x.b)", input).kind() == ErrorKind::too_large);
  CHECK(run_error(". as $x | .b | inside($x.a)", input).kind() == ErrorKind::too_large);
  const Json long_lists = {{"a", Json(std::vector<Json>(2000, Json(std::vector<int>(100, 0))))},
                           {"b", Json(std::vector<Json>(2000, lists(0, {1})[0]))}};
  CHECK(run_error(".a - .b", long_lists).kind() == ErrorKind::too_large);
  CHECK(run_error(". as $x | .a | .[$x.a + [1]]", long_lists).kind() == ErrorKind::too_large);
  // A large object is compared key by key.
  Json large = Json::object();
  for (int i = 0; i < 20000; ++i) large["key-" + std::to_string(i)] = {{"value", i}};
  CHECK(only("contains(.)", large) == true);
  CHECK(only(". == .", large) == true);
  // And many names each with each.
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back(std::string(35, 'n') + std::to_string(10'000 + i));
  CHECK(only("contains(.)", Json(names)) == true);
}

TEST_CASE("texts that are much alike are searched in one go") {
  const auto begin = std::chrono::steady_clock::now();
  const std::string many(2'000'000, 'a');
  const Json input = {{"text", many}, {"part", many.substr(0, 1'000'000) + "b"}};
  CHECK(only(". as $x | .text | contains($x.part)", input) == false);
  CHECK(only(". as $x | .text | split($x.part) | length", input) == 1);
  CHECK(only(".text / .part | length", input) == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("the clock is looked at between steps that each walk through all of the input") {
  const Json list = Json(std::vector<int>(200'000, 7));
  const Json input = {{"a", list}, {"b", list}};
  Limits limits;
  limits.deadline = Duration(5);
  // Fewer than a thousand steps.
  CHECK(run_error(". as $x | [range(100)] | map($x.a == $x.b) | length", input, limits).kind() ==
        ErrorKind::timeout);
}

TEST_CASE("outputs are limited in number and size in both engines") {
  Limits limits = patient();
  limits.max_outputs = 3;
  for (const char* text : {"1,2,3", "range(3)", "reduce 1 as $x (0;.)|1,2,3"}) {
    CHECK(compiled(text).run(nullptr, limits)->size() == 3);
  }
  CHECK(run_error("1,2,3,4", nullptr, limits).kind() == ErrorKind::too_large);
  CHECK(run_error("(..|1),2,3,4", nullptr, limits).kind() == ErrorKind::too_large);
  limits = patient();
  limits.max_output_bytes = 10;
  CHECK(compiled("\"12345678\"").run(nullptr, limits).ok());
  CHECK(run_error("\"123456789\"", nullptr, limits).kind() == ErrorKind::too_large);
  CHECK(run_error("..|\"123456789\"", nullptr, limits).kind() == ErrorKind::too_large);
  CHECK(run_error("repeat(1)").kind() == ErrorKind::too_large);
}

TEST_CASE("programs are limited in size and depth") {
  CHECK_FALSE(Program::compile(std::string((64U << 10U) + 1, ' ')).ok());
  CHECK_FALSE(Program::compile(std::string(250, '(') + "1" + std::string(250, ')')).ok());
  CHECK(only(std::string(190, '(') + "1" + std::string(190, ')')) == 1);
  for (const char* open : {"(", "[", "{a:", "-", "try ", "if ", "\"\\(", ".[", "1//"}) {
    std::string text;
    while (text.size() < 60000) text += open;
    INFO(open);
    CHECK_FALSE(Program::compile(text).ok());
  }
  CHECK_FALSE(Program::compile(std::string_view("1\0", 2)).ok());
  CHECK_FALSE(Program::compile("\"\xff\"").ok());
}

TEST_CASE("long programs do not overflow the stack") {
  for (const char* link :
       {"|.", "|[.]|.[0]", ",1", "+1", "|{a:.}|.a", " as $x|.", "|(.?)", "|first(.)"}) {
    std::string text = ".";
    for (int i = 0; i < 700; ++i) text += link;
    INFO(link);
    auto program = Program::compile(text);
    if (program.ok()) CHECK(program->run(1, patient()).ok());
  }
  std::string pipes = ".";
  while (pipes.size() < 40000) pipes += "|.";
  auto program = Program::compile(pipes);
  if (program.ok()) CHECK_FALSE(program->native());
}
