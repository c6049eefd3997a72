#include <regex>
#include <set>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

TEST_CASE("the same seed gives the same numbers and another seed others") {
  Random a(7), b(7), c(8);
  for (int i = 0; i < 10; ++i) {
    const auto x = a.next();
    CHECK(x == b.next());
    CHECK(x != c.next());
  }
}

TEST_CASE("unit and below stay in their ranges and reach all of them") {
  Random random(1);
  std::set<std::uint64_t> seen;
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = random.unit();
    CHECK((u >= 0 && u < 1));
    sum += u;
    seen.insert(random.below(7));
  }
  CHECK(sum / 10000 == Approx(0.5).margin(0.02));
  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(random.below(1) == 0);
}

TEST_CASE("suffixes use the alphabet of generateName") {
  Random random(1);
  const std::string text = random.suffix(5000);
  CHECK(text.size() == 5000);
  CHECK(text.find_first_not_of("bcdfghjklmnpqrstvwxz2456789") == std::string::npos);
  CHECK(std::set<char>(text.begin(), text.end()).size() == 27);
}

TEST_CASE("UUIDs are version 4 and differ") {
  Random random(1);
  const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random.uuid();
    INFO(uuid);
    CHECK(std::regex_match(uuid, form));
    seen.insert(uuid);
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("randomness of the system differs from call to call") {
  CHECK(Random::from_system().next() != Random::from_system().next());
  CHECK(secure_random_hex(16).size() == 32);
  CHECK(secure_random_hex(16) != secure_random_hex(16));
  CHECK(secure_random_hex(64).find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("backoff grows by the factor, within jitter, up to the maximum") {
  Random random(3);
  const BackoffPolicy policy{Duration(100), Duration(1000), 2.0, 0.2};
  const std::int64_t raw[] = {100, 200, 400, 800, 1000, 1000};
  for (std::uint32_t attempt = 1; attempt <= 6; ++attempt) {
    for (int i = 0; i < 200; ++i) {
      const auto delay = backoff_delay(policy, attempt, random).count();
      const auto base = static_cast<double>(raw[attempt - 1]);
      CHECK(static_cast<double>(delay) >= base * 0.8 - 1);
      CHECK(static_cast<double>(delay) <= std::min(1000.0, base * 1.2 + 1));
    }
  }
  CHECK(backoff_delay(policy, 4000000000U, random).count() <= 1000);
  CHECK(backoff_delay({Duration(100), Duration(1000), 2.0, 0}, 1, random) == Duration(100));
  CHECK(backoff_delay({Duration(100), Duration(1000), 2.0, 0}, 0, random) == Duration(100));
}

TEST_CASE("only success resets a backoff") {
  Random random(3);
  Backoff backoff({Duration(100), Duration(10000), 2.0, 0});
  CHECK(backoff.fail(random) == Duration(100));
  CHECK(backoff.fail(random) == Duration(200));
  CHECK(backoff.fail(random) == Duration(400));
  CHECK(backoff.failures() == 3);
  backoff.succeed();
  CHECK(backoff.failures() == 0);
  CHECK(backoff.fail(random) == Duration(100));
}
