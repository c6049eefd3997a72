// What a standby keeps of the deletions that are the leader's to tell: for a while, and not too
// much.
#include "hooks/untold_deletions.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using hooks::Deleted;
using hooks::UntoldDeletions;

namespace {

Deleted gone(const std::string& name, const std::string& json = "{}") {
  Deleted out;
  out.last.meta.namespace_ = "shop";
  out.last.meta.name = name;
  out.last.meta.uid = "u-" + name;
  out.last.json = json;
  return out;
}

std::vector<std::string> names(const std::vector<Deleted>& deleted) {
  std::vector<std::string> out;
  for (const Deleted& one : deleted) out.push_back(one.last.meta.name);
  return out;
}

TimePoint at(int seconds) {
  return TimePoint{} + Duration{seconds * 1000};
}

const auto kAll = [](const core::ObjectKey&) { return true; };

}  // namespace

TEST_CASE("deletions are kept in order for a time, and taken once, by whose they are") {
  UntoldDeletions untold(Duration{30000});
  untold.note(gone("a"), at(0));
  untold.note(gone("b"), at(10));
  untold.note(gone("c"), at(20));
  untold.note(gone("d"), at(20));
  const auto is_c = [](const core::ObjectKey& key) { return key.name == "c"; };
  CHECK(names(untold.take(is_c, at(25))) == std::vector<std::string>{"c"});
  CHECK(names(untold.take(kAll, at(31))) == std::vector<std::string>{"b", "d"});
  CHECK(untold.take(kAll, at(31)).empty());
}

TEST_CASE("what was told after all is not kept, another of the same name is") {
  UntoldDeletions untold(Duration{30000});
  untold.note(gone("a"), at(0));
  Deleted again = gone("a");
  again.last.meta.uid = "u-later";
  untold.note(again, at(1));
  untold.told({"shop", "a"}, "u-a");
  untold.told({"shop", "a"}, "u-nosuch");
  const auto left = untold.take(kAll, at(2));
  REQUIRE(left.size() == 1);
  CHECK(left[0].last.meta.uid == "u-later");
}

TEST_CASE("the oldest deletions go where there are too many, old states where they are too large") {
  UntoldDeletions untold(Duration{30000});
  for (std::size_t i = 0; i < UntoldDeletions::kMostObjects + 5; ++i) {
    untold.note(gone(std::to_string(i)), at(0));
  }
  const auto most = untold.take(kAll, at(0));
  REQUIRE(most.size() == UntoldDeletions::kMostObjects);
  CHECK(most.front().last.meta.name == "5");

  const std::string large(UntoldDeletions::kMostBytes / 4, 'x');
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) untold.note(gone(name, large), at(0));
  untold.told({"shop", "a"}, "u-a");
  untold.told({"shop", "f"}, "u-f");
  untold.note(gone("g", large), at(0));
  untold.note(gone("h", large), at(0));
  std::string states;
  for (const Deleted& one : untold.take(kAll, at(0))) {
    states += one.last.meta.name + (one.last.json.empty() ? "- " : "+ ");
  }
  CHECK(states == "b- c- d+ e+ g+ h+ ");
}
