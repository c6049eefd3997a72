// Deletions that are owed: their order, and what goes where those that failed are too many.
#include "hooks/owed_deletions.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using hooks::OwedDeletions;

namespace {

core::ObjectKey key(const std::string& name) {
  return {"shop", name};
}

hooks::Deleted deleted(const std::string& name, const std::string& uid, std::size_t bytes = 1) {
  hooks::Deleted out;
  out.last.meta.namespace_ = "shop";
  out.last.meta.name = name;
  out.last.meta.uid = uid;
  out.last.json = std::string(bytes, 'x');
  return out;
}

bool none(const core::ObjectKey&) {
  return false;
}

}  // namespace

TEST_CASE("deletions of one name are owed in the order in which they went") {
  OwedDeletions owed(10);
  CHECK(owed.first(key("a")) == nullptr);
  CHECK(owed.end_first(key("a")).empty());
  owed.add(deleted("a", "u1"));
  owed.add(deleted("b", "u2"));
  hooks::Deleted last = deleted("a", "u3");
  last.may_have_left = true;
  owed.add(last);
  CHECK(owed.count(key("a")) == 2);
  CHECK(owed.first(key("a"))->last.meta.uid == "u1");
  CHECK(owed.end_first(key("a")) == "u1");
  REQUIRE(owed.first(key("a")) != nullptr);
  CHECK(owed.first(key("a"))->may_have_left);
  owed.confirm_gone(key("a"));
  CHECK_FALSE(owed.first(key("a"))->may_have_left);
  CHECK(owed.end_first(key("a")) == "u3");
  CHECK_FALSE(owed.has(key("a")));
  CHECK(owed.count(key("a")) == 0);
  CHECK(owed.has(key("b")));
}

TEST_CASE("what may only have left, came back and has gone again is owed once, as it was last") {
  OwedDeletions owed(10);
  hooks::Deleted gone = deleted("a", "u1", OwedDeletions::kMostBytes);
  gone.may_have_left = true;
  const bool failed = GENERATE(true, false);
  owed.add(gone);
  if (failed) owed.fail(key("a"));
  gone.last.json = "{}";
  owed.add(gone);
  CHECK(owed.count(key("a")) == 1);
  CHECK(owed.first(key("a"))->last.json == "{}");
  CHECK(owed.first(key("a"))->may_have_left);
  // Its former state counts no more.
  owed.add(deleted("b", "u2", OwedDeletions::kMostBytes - 2));
  owed.fail(key("a"));
  CHECK(owed.fail(key("b")).empty());
  owed.add(deleted("a", "u3"));
  CHECK(owed.count(key("a")) == 2);
}

TEST_CASE("of failed deletions the oldest that does not run is in excess, never the youngest") {
  OwedDeletions owed(2);
  for (const char* name : {"a", "b", "c", "d"}) owed.add(deleted(name, name));
  CHECK_FALSE(owed.excess(none));  // none has failed
  owed.fail(key("a"));
  owed.fail(key("b"));
  owed.fail(key("a"));  // again: it keeps its place
  CHECK_FALSE(owed.excess(none));
  owed.fail(key("c"));
  CHECK(owed.excess(none) == key("a"));
  CHECK(owed.excess([](const core::ObjectKey& one) { return one.name == "a"; }) == key("b"));
  CHECK_FALSE(owed.excess([](const core::ObjectKey& one) { return one.name != "c"; }));
  owed.end_first(key("a"));
  CHECK_FALSE(owed.excess(none));
  owed.fail(key("d"));
  CHECK(owed.excess(none) == key("b"));
  // What was told and went once more has not failed.
  owed.add(deleted("b", "u2"));
  owed.end_first(key("b"));
  CHECK_FALSE(owed.excess(none));
  owed.fail(key("b"));
  CHECK(owed.excess(none) == key("c"));
  owed.fail(key("nobody"));
  owed.end_first(key("c"));
  CHECK_FALSE(owed.excess(none));
}

TEST_CASE("of failed deletions the oldest lose their last states where these are too large") {
  constexpr std::size_t kHalf = OwedDeletions::kMostBytes / 2;
  using Keys = std::vector<core::ObjectKey>;
  OwedDeletions owed(10);
  owed.add(deleted("a", "a", kHalf));
  owed.add(deleted("b", "b", kHalf));
  owed.add(deleted("c", "c", 1));
  owed.add(deleted("d", "d", 3 * kHalf));
  CHECK(owed.fail(key("a")).empty());
  CHECK(owed.fail(key("b")).empty());
  CHECK(owed.fail(key("b")).empty());  // not counted twice
  CHECK(owed.fail(key("c")) == Keys{key("a")});
  CHECK(owed.first(key("a"))->last.json.empty());
  CHECK(owed.first(key("a"))->last.meta.uid == "a");
  CHECK(owed.first(key("b"))->last.json.size() == kHalf);
  CHECK(owed.fail(key("d")) == Keys{key("b"), key("c")});
  CHECK(owed.first(key("d"))->last.json.size() == 3 * kHalf);
  // What is told, and what is taken, counts no more.
  owed.end_first(key("d"));
  owed.add(deleted("e", "e", 2 * kHalf));
  CHECK(owed.fail(key("e")).empty());
  const auto taken = owed.take([](const core::ObjectKey& one) { return one.name != "a"; });
  CHECK(taken.size() == 3);
  CHECK(owed.has(key("a")));
  CHECK_FALSE(owed.has(key("e")));
  owed.add(deleted("f", "f", 2 * kHalf));
  CHECK(owed.fail(key("f")).empty());
}
