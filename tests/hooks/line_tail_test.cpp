#include "hooks/line_tail.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

TEST_CASE("the last lines are kept, within lines and bytes") {
  LineTail tail(3, 20);
  CHECK(tail.text() == "");
  for (const char* line : {"a", "b", "c", "d"}) tail.add(line);
  CHECK(tail.text() == "b\nc\nd\n");
  tail.add("0123456789");
  tail.add("0123456789");
  CHECK(tail.text() == "0123456789\n");
  tail.add(std::string(100, 'x'));
  CHECK(tail.text() == std::string(19, 'x') + "\n");
}

}  // namespace kubewatch::hooks
