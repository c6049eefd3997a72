// Runs without an object: a rule without `for`, and one more run for an object that is deleted.
#include <algorithm>

#include "base/json.hpp"
#include "hooks/invocation.hpp"
#include "hooks/output.hpp"
#include "hooks/ownership.hpp"
#include "hooks/pruner.hpp"
#include "hooks/shard_plan.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const Owner kNobody{{}, false, {}, "", false};

core::ObjectMeta meta_with(std::vector<std::pair<std::string, std::string>> labels) {
  core::ObjectMeta meta;
  meta.name = "c";
  meta.labels = std::move(labels);
  return meta;
}

Rule rule_without_for() {
  Rule rule;
  rule.name = "nightly";
  rule.has_for = false;
  rule.apply.field_manager = "kubewatch/nightly";
  OwnsRule config_maps;
  config_maps.stream.gvk = {"", "v1", "ConfigMap"};
  rule.owns.push_back(config_maps);
  return rule;
}

Result<HookOutput> parse(const Rule& rule, const Owner& owner, std::string_view text,
                         bool deleted = false) {
  core::ResourceType type;
  type.gvk = {"", "v1", "ConfigMap"};
  type.plural = "configmaps";
  OutputContext context{rule, owner, [&](const core::Gvk&) { return &type; }};
  context.has_status = false;
  context.deleted = deleted;
  return parse_output(text, context);
}

}  // namespace

TEST_CASE("a child without an owner carries the controller's label alone") {
  const Json child =
      with_ownership({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "c"}}}},
                     "nightly", kNobody, OwnerRef::controller);
  CHECK(child["metadata"] ==
        Json{{"name", "c"}, {"labels", {{"kubewatch.dev/controller", "nightly"}}}});
  CHECK_FALSE(needs_finalizer(kNobody, OwnerRef::controller, "shop"));
  CHECK(kNobody.str() == "<none>");
}

TEST_CASE("without an owner an existing object is ours by the controller's label alone") {
  CHECK(belongs_to(meta_with({}), "nightly", "") == Belongs::nobody);
  CHECK(belongs_to(meta_with({{"kubewatch.dev/controller", "nightly"}}), "nightly", "") ==
        Belongs::us);
  CHECK(belongs_to(meta_with({{"kubewatch.dev/controller", "website"}}), "nightly", "") ==
        Belongs::other);
  // Made for an object, by a version of the rule that had `for`.
  CHECK(belongs_to(
            meta_with({{"kubewatch.dev/controller", "nightly"}, {"kubewatch.dev/owner-uid", "u"}}),
            "nightly", "") == Belongs::other);
}

TEST_CASE("without an owner only children without an owner are pruned") {
  const Rule rule = rule_without_for();
  const Json object = {
      {"metadata",
       {{"managedFields", {{{"manager", "kubewatch/nightly"}, {"operation", "Apply"}}}}}}};
  const auto ours = meta_with({{"kubewatch.dev/controller", "nightly"}});
  const auto owned =
      meta_with({{"kubewatch.dev/controller", "nightly"}, {"kubewatch.dev/owner-uid", "u"}});
  CHECK(is_prunable(object, ours, rule, kNobody, PruneMode::unprinted));
  CHECK_FALSE(is_prunable(object, owned, rule, kNobody, PruneMode::unprinted));
  CHECK_FALSE(is_prunable(object, meta_with({}), rule, kNobody, PruneMode::all));
}

TEST_CASE("a hook without an object gets null and empty variables, and prints no status") {
  const Rule rule = rule_without_for();
  Invocation run;
  run.controller = "nightly";
  run.reason = runtime::Reason::schedule;
  const auto document = base::parse_json(build_document(run));
  REQUIRE(document.ok());
  CHECK((*document)["object"].is_null());
  CHECK((*document)["reason"] == Json{{"type", "Schedule"}});
  base::Random random(1);
  const EnvironmentInput input{run,
                               {},
                               rule.reconcile,
                               "/work",
                               "/home",
                               [](const std::string&) -> std::optional<std::string> { return {}; },
                               [](const std::string&, std::size_t) -> Result<std::string> {
                                 return Error(ErrorKind::not_found, "");
                               }};
  const auto environment = build_environment(input, random);
  REQUIRE(environment.ok());
  for (const char* name : {"KW_NAME=", "KW_NAMESPACE=", "KW_KIND=", "KW_UID=", "KW_GENERATION="}) {
    const auto& all = environment->variables;
    CHECK(std::find(all.begin(), all.end(), name) != all.end());
  }
  CHECK(parse(rule, kNobody, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}")
            .ok());
  CHECK(parse(rule, kNobody, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
            .error()
            .render()
            .find("the rule has no object") != std::string::npos);
  CHECK_FALSE(
      parse(rule, kNobody, "{apiVersion: kubewatch.dev/v1, kind: Result, status: {a: b}}").ok());
}

TEST_CASE("the reason of a trigger reaches the hook in words") {
  Invocation run;
  run.reason = runtime::Reason::external;
  run.reason_object = "commit abc pushed";
  const auto document = base::parse_json(build_document(run));
  REQUIRE(document.ok());
  CHECK((*document)["reason"] == Json{{"type", "External"}, {"message", "commit abc pushed"}});
}

TEST_CASE("nothing is made for an object that is deleted") {
  Rule rule = rule_without_for();
  rule.has_for = true;
  const Owner owner{{"demo.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", true};
  const auto refused =
      parse(rule, owner, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", true);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("is deleted") != std::string::npos);
  CHECK_FALSE(parse(rule, owner,
                    "{apiVersion: kubewatch.dev/v1, kind: Result, create: [{apiVersion: v1, kind: "
                    "ConfigMap, metadata: {name: a}}]}",
                    true)
                  .ok());
  CHECK(parse(rule, owner,
              "{apiVersion: kubewatch.dev/v1, kind: Result, delete: [{apiVersion: v1, kind: "
              "ConfigMap, name: a}]}",
              true)
            .ok());
}

TEST_CASE("one run for everything belongs to one shard") {
  const auto plan = parse_shard_plan("label=part", 2);
  REQUIRE(plan.ok());
  CHECK(rule_of_shard(rule_without_for(), *plan, 0));
  CHECK_FALSE(rule_of_shard(rule_without_for(), *plan, 1));
}
