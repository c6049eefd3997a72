// Runs that wait for whole lists: which are told, which are woken, and in what words.
#include "hooks/lacking_runs.hpp"

#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Keys = std::vector<core::ObjectKey>;

const core::ObjectKey kA{"shop", "a"};
const core::ObjectKey kB{"shop", "b"};

}  // namespace

TEST_CASE("a run that waits is told of once for each expression, whichever object that fails on") {
  const Rule rule;
  LackingRuns lacking(rule);
  CHECK(lacking.hold(kA, {"map fails on x", "/spec/watches/0/map"}));
  CHECK_FALSE(lacking.hold(kA, {"map fails on y", "/spec/watches/0/map"}));
  CHECK(lacking.all().at(kA).why == "map fails on y");
  CHECK(lacking.hold(kB, {"map fails on x", "/spec/watches/0/map"}));
  CHECK(lacking.hold(kA, {"refs fails", "/spec/watches/1/refs"}));
  lacking.forget(kA);
  CHECK_FALSE(lacking.has(kA));
  CHECK(lacking.hold(kA, {"refs fails", "/spec/watches/1/refs"}));
}

TEST_CASE("those are woken that wait for the entry of the rule that was mended") {
  const Rule rule;
  LackingRuns lacking(rule);
  CHECK_FALSE(lacking.any());
  lacking.hold(kA, {"", "/spec/watches/1/map"});
  lacking.hold(kB, {"", "/spec/watches/10/refs"});
  CHECK(lacking.any());
  CHECK(lacking.held_by("/spec/watches/1") == Keys{kA});
  CHECK(lacking.held_by("/spec/watches/10") == Keys{kB});
  CHECK(lacking.held_by("/spec/owns/1").empty());
  CHECK_FALSE(lacking.waits_for_itself(kA));
  CHECK(lacking.waits_for_itself(kB));
}

TEST_CASE("it is said in which line of the rule's file the expression stands") {
  const test::RuleFolder folder;
  folder.script("hook.sh");
  const std::string text =
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
      "  for: {apiVersion: v1, kind: ConfigMap}\n"
      "  watches:\n"
      "  - {name: config, apiVersion: v1, kind: Secret,\n"
      "     map: .a}\n"
      "  reconcile: {exec: [./hook.sh]}\n";
  const auto loaded = parse_rules(text, folder.write("rules.yaml", text));
  REQUIRE(loaded.problems.empty());
  LackingRuns lacking(loaded.rules.front());
  const Lack lack{"map fails", "/spec/watches/0/map"};
  lacking.hold(kA, lack);
  const std::string words = folder.file("rules.yaml") + ":8: map fails";
  CHECK(lacking.in_words(lack) == words);
  CHECK(lacking.in_words(kA) == words);
  CHECK(lacking.in_words(kB).empty());
  // Once: runs wait by the thousand, and the file may be another by now.
  folder.write("rules.yaml", "");
  CHECK(lacking.in_words(kA) == words);
}
