// Which of what happened meets which expected item.
#include "rehearsal/met_items.hpp"

#include <string>

#include "support/catch.hpp"

using namespace kubewatch::rehearsal;

namespace {

// What happened are letters, and so is what an item fits: "ab" fits a and b.
struct Item {
  std::string fits;
  ExpectedItem need;
};

std::vector<std::size_t> met(const std::vector<Item>& items, const std::string& happened) {
  std::vector<ExpectedItem> needs;
  for (const Item& item : items) needs.push_back(item.need);
  return met_items(needs, happened.size(), [&](std::size_t item, std::size_t one) {
    return items[item].fits.find(happened[one]) != std::string::npos;
  });
}

using Counts = std::vector<std::size_t>;

const ExpectedItem kOnce{};

ExpectedItem exactly(std::size_t times) {
  return {times, true};
}

}  // namespace

TEST_CASE("an item leaves to others what they need, in whatever order it happened") {
  for (const char* happened : {"abc", "cba", "bca"}) {
    INFO(happened);
    CHECK(met({{"abc", kOnce}, {"ab", kOnce}, {"a", kOnce}}, happened) == Counts{1, 1, 1});
    CHECK(met({{"a", kOnce}, {"ab", kOnce}, {"abc", kOnce}}, happened) == Counts{1, 1, 1});
    CHECK(met({{"abc", kOnce}, {"ab", exactly(2)}}, happened) == Counts{1, 2});
  }
  CHECK(met({{"ab", kOnce}, {"a", kOnce}}, "bb") == Counts{1, 0});
  CHECK(met({{"ab", kOnce}, {"ab", kOnce}}, "a") == Counts{1, 0});
  CHECK(met({{"a", kOnce}}, "aab") == Counts{1});
  CHECK(met({{"a", kOnce}}, "") == Counts{0});
}

TEST_CASE("an exact item is met by all that fits it but what items before it are met by") {
  for (const char* happened : {"aab", "baa", "aba"}) {
    INFO(happened);
    CHECK(met({{"a", exactly(2)}}, happened) == Counts{2});
    CHECK(met({{"a", exactly(1)}}, happened) == Counts{2});
    CHECK(met({{"a", exactly(3)}}, happened) == Counts{2});
    CHECK(met({{"a", exactly(0)}, {"a", kOnce}}, happened) == Counts{2, 0});
    CHECK(met({{"a", kOnce}, {"a", exactly(1)}}, happened) == Counts{1, 1});
    CHECK(met({{"b", exactly(1)}, {"ab", exactly(2)}}, happened) == Counts{1, 2});
    CHECK(met({{"ab", kOnce}, {"b", exactly(0)}}, happened) == Counts{1, 0});
  }
}
