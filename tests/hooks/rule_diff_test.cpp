#include "hooks/rule_diff.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

using Names = std::vector<std::string>;

RuleIdentity rule(const std::string& name, std::uint64_t fingerprint, std::string manager = "",
                  std::string finalizer = "") {
  if (manager.empty()) manager = "kubewatch/" + name;
  if (finalizer.empty()) finalizer = "kubewatch.dev/" + name;
  return {name, fingerprint, std::move(manager), std::move(finalizer)};
}

}  // namespace

TEST_CASE("the same rules again change nothing") {
  const auto plan = plan_reload({rule("a", 1), rule("b", 2)}, {rule("b", 2), rule("a", 1)});
  CHECK(plan.empty());
  CHECK(plan.unchanged == Names{"a", "b"});
}

TEST_CASE("a changed rule ends and starts anew, the others go on") {
  const auto plan = plan_reload({rule("a", 1), rule("b", 2)}, {rule("a", 9), rule("b", 2)});
  CHECK(plan.unchanged == Names{"b"});
  CHECK(plan.ended == Names{"a"});
  CHECK(plan.removed.empty());
  CHECK(plan.started == Names{"a"});
}

TEST_CASE("a removed rule ends, a new one starts") {
  const auto plan = plan_reload({rule("a", 1), rule("b", 2)}, {rule("b", 2), rule("c", 3)});
  CHECK(plan.unchanged == Names{"b"});
  CHECK(plan.ended == Names{"a"});
  CHECK(plan.removed == Names{"a"});
  CHECK(plan.started == Names{"c"});
}

TEST_CASE("a rule whose field manager or finalizer changed is another rule") {
  CHECK(plan_reload({rule("a", 1, "m")}, {rule("a", 1, "n")}).started == Names{"a"});
  CHECK(plan_reload({rule("a", 1, "", "x.io/f")}, {rule("a", 1)}).started == Names{"a"});
}

TEST_CASE("a rule waits for those that end with its name, field manager or finalizer") {
  CHECK_FALSE(may_start(rule("a", 2), {rule("a", 1)}));
  CHECK_FALSE(may_start(rule("b", 1, "m"), {rule("a", 1, "m")}));
  CHECK_FALSE(may_start(rule("b", 1, "", "x.io/f"), {rule("c", 1), rule("a", 1, "", "x.io/f")}));
  CHECK(may_start(rule("b", 1), {rule("a", 1)}));
  CHECK(may_start(rule("b", 1), {}));
}

}  // namespace kubewatch::hooks
