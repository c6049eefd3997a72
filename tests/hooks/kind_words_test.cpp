// Words for kinds, and what is said when no rule is for one.
#include "hooks/kind_words.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Rule rule_for(const std::string& name, const core::Gvk& gvk) {
  Rule rule;
  rule.name = name;
  rule.for_.gvk = gvk;
  return rule;
}

}  // namespace

TEST_CASE("of a kind that no server has told of the plural is guessed") {
  const core::Gvk site{"demo.dev", "v1", "Website"};
  for (const char* word : {"Website", "websites", "website.demo.dev", "websites.v1.demo.dev"}) {
    INFO(word);
    CHECK(names_kind(word, site));
  }
  CHECK_FALSE(names_kind("web", site));
  CHECK_FALSE(names_kind("", site));
}

TEST_CASE("who names a kind that no rule is for is told of the rules that there are") {
  Rule site = rule_for("site", {"demo.dev", "v1", "Website"});
  site.owns.emplace_back();
  site.owns[0].stream.gvk = {"", "v1", "Secret"};
  Rule group = rule_for("group", {"apps", "", ""});
  group.for_.every_kind = true;
  Rule nightly;
  nightly.name = "nightly";
  nightly.has_for = false;
  nightly.owns = site.owns;
  CHECK(no_rule_for_kind("pod", {&site, &group, &site}).message() ==
        "no rule is for the kind pod; there are rules for Website, all kinds of apps");
  CHECK(
      no_rule_for_kind("secrets", {&site, &nightly}).message() ==
      "no rule is for the kind secrets; there are rules for Website; site owns it as a child: ask "
      "for its owner; nightly has no `for`: name such a rule by --controller");
  CHECK(no_rule_for_kind("pod", {&nightly, &nightly}).message() ==
        "no rule is for the kind pod; nightly, nightly have no `for`: name such a rule by "
        "--controller");
  CHECK(no_rule_for_kind("pod", {}).is_not_found());
}
