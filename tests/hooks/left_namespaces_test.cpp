// Where a rule looks for objects that it has left in namespaces which it does not name any more.
#include "hooks/left_namespaces.hpp"

#include "support/catch.hpp"

using namespace kubewatch::hooks;

namespace {

using Names = std::set<std::string>;

bool covers(const std::string& name) {
  return name == "shop";
}

}  // namespace

TEST_CASE("a first start looks where it may be, and where the state knows objects") {
  const auto where = where_left({}, {}, covers, true);
  REQUIRE(where);
  CHECK_FALSE(where->known());
  const auto with_state = where_left({}, {"shop", "blog"}, covers, true);
  REQUIRE(with_state);
  CHECK(with_state->namespaces == Names{"blog"});
}

TEST_CASE("a rule that puts no finalizer on anything looks only where it may have done so before") {
  CHECK_FALSE(where_left({}, {}, covers, false));
  CHECK_FALSE(where_left({}, {"shop"}, covers, false));
  CHECK(where_left({}, {"blog"}, covers, false));
  WatchedBefore before;
  before.namespaces = {"blog"};
  CHECK(where_left(before, {}, covers, false));
}

TEST_CASE("a changed rule that names no fewer namespaces does not look again") {
  WatchedBefore before;
  before.namespaces = {"shop"};
  CHECK_FALSE(where_left(before, {}, covers, true));
  CHECK_FALSE(where_left(before, {"shop"}, covers, true));
  CHECK(where_left(before, {"blog"}, covers, true));
  before.namespaces.insert("news");
  const auto where = where_left(before, {}, covers, true);
  REQUIRE(where);
  CHECK(where->namespaces == Names{"news", "shop"});
}

TEST_CASE("a rule that watched all namespaces before looks everywhere") {
  WatchedBefore before;
  before.all = true;
  const auto where = where_left(before, {}, covers, true);
  REQUIRE(where);
  CHECK(where->all);
}
