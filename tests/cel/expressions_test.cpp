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
std::string outcome(const std::string& expression) {
  const cel::DataType nothing;
  const auto compiled = cel::compile(expression, {}, nothing);
  if (!compiled.ok()) {
    const bool late = compiled.error().render() != compiled.error().message();
    return (late ? "program: " : "compile: ") + compiled.error().message();
  }
  const auto result = compiled->program->run({}, 1000000);
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
