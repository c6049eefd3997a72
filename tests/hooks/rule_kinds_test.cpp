// One rule for many kinds: the controllers it makes, and how they follow what the server has.
#include "hooks/rule_kinds.hpp"

#include "base/strings.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ResourceType type(const std::string& group, const std::string& kind, bool namespaced = true) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.plural = base::to_lower(kind) + "s";
  out.namespaced = namespaced;
  out.verbs = {"get", "list", "watch"};
  return out;
}

}  // namespace

TEST_CASE("a list of kinds makes one controller per kind, with names of its own") {
  const test::RuleFolder folder;
  folder.script("hook.sh");
  const auto loaded = parse_rules(
      "apiVersion: kubewatch.dev/v1\n"
      "kind: Controller\n"
      "metadata: {name: labels}\n"
      "spec:\n"
      "  for:\n"
      "    - {apiVersion: apps/v1, kind: Deployment, labelSelector: a}\n"
      "    - {apiVersion: v1, kind: Pod, namespaces: [shop]}\n"
      "    - {group: demo.dev, kinds: '*', labelSelector: b}\n"
      "  concurrency: 7\n"
      "  reconcile: {exec: [./hook.sh], env: {A: b}}\n"
      "  finalize: {exec: [./hook.sh], name: x.dev/guard}\n"
      "  apply: {fieldManager: robot}\n",
      folder.file("rules.yaml"));
  REQUIRE(loaded.problems.empty());
  REQUIRE(loaded.rules.size() == 3);
  const Rule& deployments = loaded.rules[0];
  CHECK(deployments.name == "labels-deployment");
  CHECK(deployments.document == "labels");
  CHECK(deployments.apply.field_manager == "robot-deployment");
  CHECK(deployments.finalizer_name == "x.dev/guard-deployment");
  CHECK(deployments.for_.gvk == core::Gvk{"apps", "v1", "Deployment"});
  CHECK(deployments.for_.label_selector.str() == "a");
  CHECK(deployments.concurrency == 7);
  CHECK(deployments.reconcile.env.at("A").literal == "b");
  CHECK(loaded.rules[1].name == "labels-pod");
  CHECK(loaded.rules[1].for_.namespaces == std::vector<std::string>{"shop"});
  CHECK(loaded.rules[2].for_.every_kind);

  StreamRule gadget = loaded.rules[2].for_;
  gadget.gvk = {"demo.dev", "v1", "Gadget"};
  const Rule gadgets = rule_of_kind(loaded.rules[2], gadget);
  CHECK(gadgets.name == "labels-gadget");
  CHECK_FALSE(gadgets.for_.every_kind);
  CHECK(gadgets.for_.label_selector.str() == "b");
}

TEST_CASE("a rule whose name is that of a listed kind's controller is refused") {
  const test::RuleFolder folder;
  const std::string text =
      "apiVersion: kubewatch.dev/v1\n"
      "kind: Controller\n"
      "metadata: {name: a}\n"
      "spec: {for: [{apiVersion: v1, kind: Pod}], reconcile: {shell: 'true'}}\n"
      "---\n"
      "apiVersion: kubewatch.dev/v1\n"
      "kind: Controller\n"
      "metadata: {name: a-pod}\n"
      "spec: {for: {apiVersion: v1, kind: Pod}, reconcile: {shell: 'true'}}\n";
  const auto loaded = parse_rules(text, folder.file("rules.yaml"));
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].message.find("name \"a-pod\" is already that of") != std::string::npos);
}

TEST_CASE("a long name is cut, the same way each time, and not to that of another kind") {
  const std::string name(60, 'n');
  const std::string one = name_with_kind(name, "Deployment", 63);
  CHECK(one.size() == 63);
  CHECK(one == name_with_kind(name, "Deployment", 63));
  CHECK(one != name_with_kind(name, "DaemonSet", 63));
  CHECK(name_with_kind("a", "Pod", 63) == "a-pod");
}

TEST_CASE(
    "every kind of a group is one that can be watched, and one in namespaces if any is named") {
  client::ResourceMap resources;
  resources.add(type("demo.dev", "Gadget"));
  resources.add(type("demo.dev", "Fleet", false));
  resources.add(type("other.dev", "Thing"));
  core::ResourceType review = type("demo.dev", "Review");
  review.verbs = {"create"};
  resources.add(review);
  StreamRule rule;
  rule.every_kind = true;
  rule.gvk.group = "demo.dev";
  const auto all = kinds_of_group(resources, rule);
  REQUIRE(all);
  CHECK(*all == std::vector<core::Gvk>{{"demo.dev", "v1", "Gadget"}, {"demo.dev", "v1", "Fleet"}});
  rule.namespaces = {"shop"};
  CHECK(kinds_of_group(resources, rule)->size() == 1);
  // A group that did not answer has not lost its kinds.
  resources.failed_groups.push_back("demo.dev/v1: 503");
  CHECK_FALSE(kinds_of_group(resources, rule));
  // Failures of the core group name no group.
  rule.gvk.group = "";
  CHECK(kinds_of_group(resources, rule));
  resources.failed_groups.push_back("v1: 503 from https://cluster/api");
  CHECK_FALSE(kinds_of_group(resources, rule));
  rule.gvk.group = "other.dev";
  CHECK(kinds_of_group(resources, rule));
}
