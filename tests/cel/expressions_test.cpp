// The language against what cel-go in the environment of an API server answers: expressions.json
// holds [expression, outcome] pairs that were recorded from it.
#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cel/data_type.hpp"
#include "cel/program.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

// "true", "error: ...", "program: ..." (refused before it runs), "compile: ..." (all issues).
std::string outcome(const std::string& expression, cel::Allowance allowance = cel::Allowance()) {
  const cel::DataType nothing;
  const auto compiled = cel::compile(expression, {}, nothing);
  if (!compiled.ok()) {
    const bool late = compiled.error().render() != compiled.error().message();
    return (late ? "program: " : "compile: ") + compiled.error().message();
  }
  const auto result = compiled->program->run({}, 1000000, allowance);
  if (result.value.is_error()) return "error: " + std::string(result.value.text());
  return result.value.is_true() ? "true" : "false";
}

}  // namespace

TEST_CASE("expressions give the values, errors and messages of an API server") {
  const auto file = std::filesystem::path(__FILE__).parent_path() / "expressions.json";
  const auto text = base::read_file(file.string(), 1 << 20);
  REQUIRE(text.ok());
  const auto rows = base::parse_json(*text);
  REQUIRE(rows.ok());
  REQUIRE(rows->size() >= 300);
  for (const auto& row : *rows) {
    const auto expression = row[0].get<std::string>();
    INFO(expression);
    CHECK(outcome(expression) == row[1].get<std::string>());
  }
}

TEST_CASE("what is too long, too deep or too large is refused before it is read on") {
  CHECK(outcome(std::string(100001, ' ')).find("code point size exceeds limit") !=
        std::string::npos);
  CHECK(outcome(std::string(1000, '(') + "1" + std::string(1000, ')'))
            .find("recursion limit exceeded: 250") != std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 1000; ++i) chain += "+1";
  CHECK(outcome(chain).find("recursion limit exceeded") != std::string::npos);
  std::string wide = "true";
  for (int i = 0; i < 1000; ++i) wide += " && true";
  CHECK(outcome(wide) == "true");
}

TEST_CASE("a type that doubles with each step is refused before anything walks it") {
  std::string literals = "true", variables = "true";
  for (int i = 40; i > 0; --i) {
    const std::string before = "a" + std::to_string(i - 1), now = "a" + std::to_string(i);
    literals = "[{" + before + ": " + before + "}].all(" + now + ", " + literals + ")";
    // Of which only the next says what they stand for.
    variables = "[[], [{" + before + ": " + before + "}]].all(" + now + ", " + variables + ")";
  }
  for (const std::string& expression :
       {"[1].all(a0, " + literals + ")", "[[]].all(a0, " + variables + ")"}) {
    CHECK(outcome(expression).find("the types of the expression are too large") !=
          std::string::npos);
  }
}

TEST_CASE("a tree that is deeper than its text is refused before anything walks it") {
  // Each pair of parentheses begins a chain of its own: 200 levels of 200 sums are 40,000 nodes
  // deep.
  std::string deep = "1";
  for (int level = 0; level < 200; ++level) {
    deep = "(" + deep + ")";
    for (int i = 0; i < 200; ++i) deep += "+1";
  }
  CHECK(outcome(deep + " > 0").find("recursion limit exceeded: 1000") != std::string::npos);
  std::string allowed = "1";
  for (int level = 0; level < 4; ++level) {
    allowed = "(" + allowed + ")";
    for (int i = 0; i < 200; ++i) allowed += "+1";
  }
  CHECK(outcome(allowed + " == 801") == "true");
}

TEST_CASE("a run stops at its limit of cost") {
  const cel::DataType nothing;
  const auto compiled =
      cel::compile("lists.range(1000).all(x, lists.range(1000).all(y, y >= 0))", {}, nothing);
  REQUIRE(compiled.ok());
  const auto result = compiled->program->run({}, 10000);
  CHECK(result.too_costly);
  CHECK(result.cost > 10000);
  CHECK(result.cost < 12000);
  CHECK(result.value.text() == "operation cancelled: actual cost limit exceeded");
}

TEST_CASE("a depth of flatten that no list has still has a cost") {
  const std::string lists = "[[1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12]]";
  CHECK(outcome("[[1]].flatten(-1).size() == 1") == "error: level must be non-negative");
  CHECK(outcome(lists + ".flatten(-1).size() == 12") ==
        "error: operation cancelled: actual cost limit exceeded");
  CHECK(outcome("[[1]].flatten(9223372036854775807).size() == 1") ==
        "error: operation cancelled: actual cost limit exceeded");
  CHECK(outcome(lists + ".flatten(9223372036854775807).size() == 12") == "true");
}

TEST_CASE("a list that grows in a loop is not copied for every element") {
  const cel::DataType nothing;
  const auto compiled =
      cel::compile("lists.range(50000).map(x, x + 1).size() == 50000", {}, nothing);
  REQUIRE(compiled.ok());
  CHECK(compiled->program->run({}, 10000000).value.is_true());
}

TEST_CASE("a name with a leading dot is a function's, never a macro without its list") {
  for (const char* text :
       {".all(x, x > 0)", ".map(x, x)", ".exists(x, x > 0) || true", ".has(a.b)"}) {
    CAPTURE(text);
    CHECK(outcome(text).starts_with("compile: "));
  }
}

namespace {

constexpr const char* kStopped = "error: operation cancelled: actual cost limit exceeded";

// `list` with a macro that is applied to its one element again and again.
std::string grown(const std::string& list, const std::string& macro, int times) {
  std::string out = list;
  for (int i = 0; i < times; ++i) out += ".map(a, " + macro + ")";
  return out;
}

std::string repeated(const std::string& text, int times, const std::string& between) {
  std::string out = text;
  for (int i = 1; i < times; ++i) out += between + text;
  return out;
}

std::string literal(std::size_t size) {
  return "'" + std::string(size, 'a') + "'";
}

}  // namespace

// Nothing is timed: without a limit none of them ends, or the memory does.
TEST_CASE("what a run makes is bounded where its cost is not") {
  const std::string many =
      "'" + repeated("%s", 100, "") + "'.format([" + repeated("a", 100, ", ") + "])";
  const std::string large = grown("[[1]]", "a + a", 29);
  const std::string endless[] = {
      grown("[[1]]", "a + a", 40) + ".size() == 1",
      large + ".map(b, b.reverse()).size() == 1",
      large + ".map(b, b.slice(0, 500000000)).size() == 1",
      large + ".map(b, [b].flatten()).size() == 1",
      grown("[['a']]", "a + a", 29) + ".map(b, b.join('')).size() == 1",
      grown("[[optional.of(1)]]", "a + a", 29) + ".map(b, optional.unwrap(b)).size() == 1",
      literal(40000) + ".replace('a', " + literal(40000) + ").size() == 1",
      grown("[" + literal(1000) + "]", "a.replace('', a)", 3) + ".size() == 1",
      grown("[" + literal(1000) + "]", many, 8) + ".size() == 1",
  };
  for (const auto& expression : endless) {
    CAPTURE(expression.substr(0, 100));
    CHECK(outcome(expression, cel::Allowance(1000000)) == kStopped);
  }
  // As every run has it.
  CHECK(outcome(endless[0]) == kStopped);
  CHECK(outcome(endless[1]) == kStopped);
  CHECK(outcome(endless[6]) == kStopped);
  CHECK(outcome(grown("[[1]]", "a + a", 23) + "[0].size() == 8388608") == "true");
  CHECK(outcome(literal(1000) + ".replace('a', " + literal(1000) + ").size() == 1000000") ==
        "true");
  CHECK(outcome(grown("[" + literal(1000) + "]", many, 1) + "[0].size() == 100000") == "true");
}

TEST_CASE("a value that holds the same one many times is not walked without end") {
  const std::string lists = grown("[1]", "[a, a]", 40);
  const std::string maps = grown("[1]", "{'x': a, 'y': a}", 40);
  for (const auto& expression :
       {lists + ".all(z, z == z)", maps + ".all(z, z == z)", lists + ".all(z, z in [z])",
        "[" + lists + "].all(l, l.indexOf(l[0]) == 0)",
        lists + ".all(z, [z, z].distinct().size() == 1)",
        lists + ".all(z, sets.contains([z], [z]))", lists + ".all(z, '%s'.format([z]) != '')",
        maps + ".all(z, '%s'.format([z]) != '')"}) {
    CAPTURE(expression.substr(expression.size() - 40));
    CHECK(outcome(expression, cel::Allowance(1000000)) == kStopped);
  }
}

TEST_CASE("the sum of two lists copies neither, and is read as one") {
  const cel::DataType nothing;
  const auto holds = [&nothing](const std::string& expression) {
    const auto compiled = cel::compile(expression, {}, nothing);
    REQUIRE(compiled.ok());
    return compiled->program->run({}, 10000000).value.is_true();
  };
  CHECK(holds("[lists.range(50000)].all(l, l.all(x, (l + [x])[50000] == x && (l + [x])[x] == x))"));
  CHECK(holds("[lists.range(50000)].all(l, l.all(x, ([x] + l)[0] == x && ([x] + l)[x + 1] == x))"));
  CHECK(
      holds("[lists.range(40)].all(l, (l + l == l) == false && l + l == l + l && "
            "(l + l).map(x, x).size() == 80 && (l + l)[79] == 39 && (l + l)[40] == 0)"));
  // However many of them.
  CHECK(holds("[lists.range(100)].all(l, (" + repeated("l", 200, " + ") +
              ")[19999] == 99) && [lists.range(100)].all(l, (" + repeated("l", 200, " + ") +
              ").size() == 20000)"));
}
