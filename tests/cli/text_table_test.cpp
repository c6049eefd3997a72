#include "cli/printers/text_table.hpp"

#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("columns are aligned by what a terminal shows, three blanks apart") {
  TextTable table;
  table.start({"NAME", "AGE"});
  table.measure_headers();
  table.measure({"日本", "5m"});
  table.measure({"website", "12d"});
  CHECK(table.render_headers() == "NAME      AGE\n");
  CHECK(table.render({"日本", "5m"}) == "日本      5m\n");
  CHECK(table.render({"website", ""}) == "website\n");
}

TEST_CASE("rows that come later keep the widths and widen them") {
  TextTable table;
  table.start({"A", "B"});
  table.measure_headers();
  CHECK(table.render({"x", "1"}) == "x   1\n");
  CHECK(table.render({"wide", "2"}) == "wide   2\n");
  CHECK(table.render({"x", "3"}) == "x      3\n");
}

TEST_CASE("no cell breaks a row or reaches the terminal uninterpreted") {
  TextTable table;
  table.start({"A", "B"});
  CHECK(table.render({"a\nb\x1b[31m",
                      "\xe2\x80\xae"
                      "c"}) == "a\\nb\\x1b[31m   \\u202ec\n");
  // A tab would leave the column.
  TextTable tabs;
  tabs.start({"A", "B"});
  tabs.measure({"a\tb\t", "1"});
  CHECK(tabs.render({"a\tb\t", "1"}) == "a\\tb\\t   1\n");
  CHECK(tabs.render({"x", "2"}) == "x        2\n");
}

}  // namespace kubewatch::cli
