#include "runtime/store_index.hpp"

#include <map>
#include <set>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using runtime::GroupIndex;
using runtime::SlotId;

TEST_CASE("slots with equal terms share a group, in whatever order the terms come") {
  GroupIndex index;
  index.set(0, {"a=1", "b=2"});
  index.set(1, {"b=2", "a=1", "a=1"});
  index.set(2, {});
  CHECK(index.groups() == 2);
  CHECK(index.has(1, {"a=1", "b=2"}));
  CHECK_FALSE(index.has(2, {"a=1"}));
  CHECK_FALSE(index.has(9, {}));
}

TEST_CASE("terms may hold any character and still be told apart") {
  GroupIndex index;
  index.set(0, {std::string("a\x01") + "b"});
  index.set(1, {"a", "b"});
  index.set(2, {"", "1:a"});
  index.set(3, {"a"});
  CHECK(index.groups() == 4);
  std::vector<SlotId> slots;
  index.collect("a", slots);
  CHECK(slots == std::vector<SlotId>{1, 3});
  slots.clear();
  index.collect("", slots);
  CHECK(slots == std::vector<SlotId>{2});
  slots.clear();
  index.collect_if(
      [](const GroupIndex::Terms& terms) {
        return terms == GroupIndex::Terms{"", "1:a"};
      },
      slots);
  CHECK(slots == std::vector<SlotId>{2});
}

TEST_CASE("the index equals a plain map after random changes, and forgets dead groups") {
  base::Random random(3);
  GroupIndex index;
  std::map<SlotId, std::set<std::string>> model;
  for (int step = 0; step < 5000; ++step) {
    const auto slot = static_cast<SlotId>(random.below(50));
    if (random.below(4) == 0) {
      index.erase(slot);
      model.erase(slot);
      continue;
    }
    std::set<std::string> terms;
    for (auto n = random.below(4); n > 0; --n) {
      // Most terms are seen once only, like a label with the object's own name.
      terms.insert(random.below(2) == 0 ? "t" + std::to_string(random.below(5))
                                        : "unique" + std::to_string(step));
    }
    index.set(slot, {terms.begin(), terms.end()});
    model[slot] = terms;
    if (step % 50 != 0) continue;
    for (int t = 0; t < 5; ++t) {
      const std::string term = "t" + std::to_string(t);
      std::vector<SlotId> found;
      index.collect(term, found);
      std::set<SlotId> wanted;
      for (const auto& [id, has] : model) {
        if (has.count(term) > 0) wanted.insert(id);
      }
      REQUIRE(std::set<SlotId>(found.begin(), found.end()) == wanted);
      REQUIRE(found.size() == wanted.size());
    }
  }
  CHECK(index.groups() < 250);  // not one per step
}
