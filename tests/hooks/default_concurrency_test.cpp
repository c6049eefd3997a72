// How many hooks at the same time when nobody says.
#include "hooks/default_concurrency.hpp"

#include "support/catch.hpp"

using namespace kubewatch::hooks;

TEST_CASE("two hooks for each CPU that may be used, from four to thirty-two") {
  CHECK(default_concurrency({{}, 1}) == 4);
  CHECK(default_concurrency({{}, 4}) == 8);
  CHECK(default_concurrency({{}, 128}) == 32);
  CHECK(default_concurrency({{}, 0}) == 4);
  CHECK(default_concurrency({2.5, 16}) == 5);
  CHECK(default_concurrency({0.1, 16}) == 4);
  CHECK(default_concurrency({64.0, 6}) == 12);
}
