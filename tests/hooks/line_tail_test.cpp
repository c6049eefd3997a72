#include "hooks/line_tail.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {
namespace {

std::string text_of(const LineTail& tail) {
  std::string out;
  for (const LineTail::Line& line : tail.lines()) out += line.text + (line.cut ? "|\n" : "\n");
  return out;
}

}  // namespace

TEST_CASE("the last lines are kept, within lines and bytes") {
  LineTail tail(3, 20);
  CHECK(text_of(tail) == "");
  for (const char* line : {"a", "b", "c", "d"}) tail.add(line);
  CHECK(text_of(tail) == "b\nc\nd\n");
  tail.add("0123456789");
  tail.add("0123456789");
  CHECK(text_of(tail) == "0123456789\n");
  tail.add(std::string(100, 'x'));
  CHECK(text_of(tail) == std::string(19, 'x') + "|\n");
}

TEST_CASE("a line whose writer was ended in it is cut") {
  LineTail tail(3, 20);
  tail.add("whole");
  tail.add("ha", true);
  CHECK(text_of(tail) == "whole\nha|\n");
}

}  // namespace kubewatch::hooks
