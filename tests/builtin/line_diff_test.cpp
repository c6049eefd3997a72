// The difference of two texts as refusals of updates show it.
#include "builtin/line_diff.hpp"

#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

std::string lines(int count, const std::string& word, int changed = -1) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i == changed ? "changed" : word) + "\n";
  return out;
}

}  // namespace

TEST_CASE("a difference is shown with three lines around it") {
  CHECK(line_diff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nd\ne\nX\ng\nh") ==
        "@@ -3,6 +3,6 @@\n c\n d\n e\n-f\n+X\n g\n h\n");
  CHECK(line_diff("a\nb\na\nb\nc", "b\na\nb\na\nc") == "@@ -1,5 +1,5 @@\n+b\n a\n b\n a\n-b\n c\n");
  CHECK(line_diff("a", "a").empty());
}

// Without an end to the search this takes minutes.
TEST_CASE("of long texts the ends are compared") {
  const std::string diff = line_diff(lines(40000, "same"), lines(40000, "same", 20000));
  CHECK(diff ==
        "@@ -19998,7 +19998,7 @@\n same\n same\n same\n-same\n+changed\n same\n same\n same\n");
}

}  // namespace kubewatch::builtin
