// The flags of leader election: what they make of each other.
#include "cli/election.hpp"

#include <algorithm>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;

namespace {

Duration hand_over(std::vector<std::string> words) {
  CLI::App app;
  ElectionFlags flags;
  flags.bind(app);
  words.emplace_back("--leader-elect");
  std::reverse(words.begin(), words.end());
  app.parse(std::move(words));
  hooks::Rule rule;
  rule.name = "web";
  base::Random random(1);
  const auto plan = flags.plan({rule}, "shop", random);
  REQUIRE(plan.ok());
  REQUIRE(plan->has_value());
  return (*plan)->hand_over;
}

}  // namespace

TEST_CASE("what went before a hand-over is kept for two lease durations, with shards for four") {
  CHECK(hand_over({}) == Duration{30000});
  CHECK(hand_over({"--lease-duration", "40s"}) == Duration{80000});
  CHECK(hand_over({"--shards", "3"}) == Duration{60000});
  CHECK(hand_over({"--shards", "1", "--lease-duration", "40s"}) == Duration{160000});
  CHECK(hand_over({"--shard-by", "namespace=a;b"}) == Duration{60000});
}
