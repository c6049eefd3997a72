#include "runtime/slot_set.hpp"

#include <set>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using runtime::SlotId;
using runtime::SlotSet;

namespace {

std::vector<SlotId> ids_of(const SlotSet& set) {
  std::vector<SlotId> out;
  set.collect(out);
  return out;
}

}  // namespace

TEST_CASE("a slot set equals a plain set through all of its forms, up and down") {
  base::Random random(11);
  for (const SlotId range : {3U, 60U, 100U, 9000U, 200000U}) {
    SlotSet set;
    std::set<SlotId> model;
    CAPTURE(range);
    const auto check = [&] {
      REQUIRE(ids_of(set) == std::vector<SlotId>(model.begin(), model.end()));
      REQUIRE(set.empty() == model.empty());
      if (!model.empty()) REQUIRE(set.last() == *model.rbegin());
    };
    for (int round = 0; round < 4; ++round) {
      const bool fill = round % 2 == 0;
      for (SlotId step = 0; step < 2 * range; ++step) {
        const auto id = static_cast<SlotId>(random.below(range));
        if (fill == (random.below(8) != 0)) {
          set.insert(id);
          model.insert(id);
        } else {
          set.erase(id);
          model.erase(id);
        }
        if (step % (range / 3 + 1) == 0) check();
      }
      check();
    }
    for (const SlotId id : std::set<SlotId>(model)) {
      set.erase(id);
      model.erase(id);
    }
    check();
  }
}

TEST_CASE("what a slot set costs is near what is in it") {
  SlotSet one, some, dense, sparse;
  one.insert(7);
  CHECK(one.bytes() == 0);
  for (SlotId id = 0; id < 20; ++id) some.insert(id * 1000);
  CHECK(some.bytes() < 20 * 4 * 2);
  for (SlotId id = 0; id < 100000; ++id) dense.insert(id);
  CHECK(dense.bytes() < 100000 / 4);
  for (SlotId id = 0; id < 100000; id += 50) sparse.insert(id);
  CHECK(sparse.bytes() < 2000 * 2 * 2 + 400);
}

TEST_CASE("a slot set that is moved leaves nothing behind") {
  SlotSet from;
  for (SlotId id = 0; id < 200; ++id) from.insert(id);
  SlotSet to(std::move(from));
  CHECK(to.last() == 199);
  SlotSet other;
  other.insert(1);
  other = std::move(to);
  CHECK(ids_of(other).size() == 200);
}
