// Which changes that did not count are remembered.
#include "hooks/ignored_changes.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

core::ObjectKey key(std::size_t number) {
  return {"shop", std::to_string(number)};
}

}  // namespace

TEST_CASE("of each object the last change that did not count is known, and how long ago it was") {
  IgnoredChanges ignored;
  CHECK_FALSE(ignored.find(key(1), at(0)));
  ignored.note(key(1), "10", at(100));
  ignored.note(key(1), "11", at(200));
  const auto found = ignored.find(key(1), at(500));
  REQUIRE(found);
  CHECK(found->resource_version == "11");
  CHECK(found->ago == Duration{300});
}

TEST_CASE("changes that do not count are remembered of the latest objects alone") {
  IgnoredChanges ignored;
  for (std::size_t i = 0; i < IgnoredChanges::kMost; ++i) ignored.note(key(i), "1", at(0));
  ignored.note(key(0), "2", at(1));
  ignored.note(key(IgnoredChanges::kMost), "1", at(2));
  CHECK(ignored.find(key(0), at(2)));
  CHECK(ignored.find(key(IgnoredChanges::kMost), at(2)));
  CHECK_FALSE(ignored.find(key(1), at(2)));
}
