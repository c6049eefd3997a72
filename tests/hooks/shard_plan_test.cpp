#include "hooks/shard_plan.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

std::string refusal(const std::string& shard_by, std::optional<std::size_t> shards = std::nullopt) {
  const auto plan = parse_shard_plan(shard_by, shards);
  return plan.ok() ? "" : plan.error().render();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("ways to share objects out have different descriptions") {
  const auto described = [](const std::string& shard_by, std::optional<std::size_t> shards = {}) {
    const auto plan = parse_shard_plan(shard_by, shards);
    return plan.ok() ? describe(*plan) : plan.error().render();
  };
  CHECK(described("", 4) == "4 even shards by hash of names");
  CHECK(described("label=part", 3) == "3 even shards by label part");
  CHECK(described("namespace=a,b;c") == "2 even shards by namespace a,b;c");
  const std::string many = std::string(60, 'a') + "," + std::string(60, 'b') + "," +
                           std::string(60, 'c') + "," + std::string(60, 'd');
  const std::string text = described("namespace=" + many + ";e");
  CHECK(text.size() < 60);
  CHECK(text != described("namespace=" + many + ";f"));
}

TEST_CASE("a shard plan is read from its flags") {
  CHECK(parse_shard_plan("", std::nullopt)->count == 1);
  CHECK_FALSE(parse_shard_plan("", 4)->narrows());
  const auto plan = parse_shard_plan("namespace=a, b;c", std::nullopt);
  REQUIRE(plan.ok());
  CHECK(plan->count == 2);
  CHECK(plan->namespaces == std::vector<Names>{{"a", "b"}, {"c"}});
  const auto label = parse_shard_plan("label=example.com/part", 3);
  REQUIRE(label.ok());
  CHECK(label->count == 3);
  CHECK(label->label == "example.com/part");
}

TEST_CASE("shard plans that would run an object twice or never are refused") {
  CHECK(refusal("namespace=a;b,a") ==
        "--shard-by: namespace a is in two places: it would be run twice");
  CHECK(refusal("namespace=a;b", 3) == "--shard-by: it names 2 shards, --shards says 3");
  CHECK(refusal("namespace=a;;b").find("is no namespace") != std::string::npos);
  CHECK(refusal("label=part") ==
        "--shard-by: label=KEY needs --shards N: objects carry KEY=0 to KEY=N-1");
  CHECK(refusal("label=a b", 2).find("is no label key") != std::string::npos);
  CHECK(refusal("name=x", 2) == "--shard-by: \"name=x\" is neither namespace=a,b;c nor label=KEY");
  CHECK(refusal("", 0) == "--shards must be at least 1");
}

TEST_CASE("a rule is narrowed to the namespaces of its shard") {
  const auto plan = parse_shard_plan("namespace=a,b;c", std::nullopt);
  Rule all;
  CHECK(rule_of_shard(all, *plan, 0)->for_.namespaces == Names{"a", "b"});
  CHECK(rule_of_shard(all, *plan, 1)->for_.namespaces == Names{"c"});
  Rule some;
  some.for_.namespaces = {"b", "z"};
  CHECK(rule_of_shard(some, *plan, 0)->for_.namespaces == Names{"b"});
  CHECK_FALSE(rule_of_shard(some, *plan, 1));
}

TEST_CASE("a kind without namespaces is in no shard of namespaces, but where the rule is wrong") {
  const auto plan = parse_shard_plan("namespace=a,b;c", std::nullopt);
  core::ResourceType nodes;
  nodes.namespaced = false;
  core::ResourceType pods;
  pods.namespaced = true;
  Rule all;
  CHECK_FALSE(is_in_no_shard(all.for_, nodes));
  CHECK(is_in_no_shard(rule_of_shard(all, *plan, 0)->for_, nodes));
  CHECK_FALSE(is_in_no_shard(rule_of_shard(all, *plan, 0)->for_, pods));
  Rule names_them;
  names_them.for_.namespaces = {"a"};
  CHECK_FALSE(is_in_no_shard(rule_of_shard(names_them, *plan, 0)->for_, nodes));
  const auto by_label = parse_shard_plan("label=part", 2);
  CHECK_FALSE(is_in_no_shard(rule_of_shard(all, *by_label, 0)->for_, nodes));
}

TEST_CASE("which shard an object is of its namespace says, or its label") {
  const auto by_namespace = parse_shard_plan("namespace=a,b;c", std::nullopt);
  core::ObjectMeta meta;
  meta.namespace_ = "b";
  CHECK(shard_of(*by_namespace, meta) == 0U);
  meta.namespace_ = "c";
  CHECK(shard_of(*by_namespace, meta) == 1U);
  meta.namespace_ = "d";
  CHECK_FALSE(shard_of(*by_namespace, meta));
  const auto by_label = parse_shard_plan("label=part", 2);
  CHECK_FALSE(shard_of(*by_label, meta));
  for (const auto& [value, shard] : std::vector<std::pair<std::string, std::optional<std::size_t>>>{
           {"0", 0}, {"1", 1}, {"2", {}}, {"01", {}}, {"", {}}}) {
    meta.labels = {{"team", "0"}, {"part", value}};
    CHECK(shard_of(*by_label, meta) == shard);
  }
}

TEST_CASE("a rule is narrowed to the label of its shard beside its own selector") {
  const auto plan = parse_shard_plan("label=part", 2);
  Rule rule;
  const auto narrowed = rule_of_shard(rule, *plan, 1);
  REQUIRE(narrowed);
  CHECK(narrowed->for_.shard_selector == "part=1");
  CHECK(narrowed->for_.label_selector.empty());
}

}  // namespace kubewatch::hooks
