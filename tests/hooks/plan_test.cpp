// What is written after a hook, and in which order.
#include "hooks/plan.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Manifest manifest(const std::string& group, const std::string& kind, const std::string& ns,
                  const std::string& name) {
  Manifest out;
  out.type.gvk = {group, "v1", kind};
  out.type.namespaced = !ns.empty();
  out.key = {ns, name};
  out.object = {{"kind", kind}, {"metadata", {{"name", name}}}};
  if (!ns.empty()) out.object["metadata"]["namespace"] = ns;
  return out;
}

struct World {
  Rule rule;
  Owner owner{{"demo.kubewatch.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
  Verdict verdict;
  PlanInput input() {
    PlanInput out{rule, owner, verdict};
    out.has_conditions = true;
    return out;
  }
};

HookOutput printed(std::vector<Manifest> manifests) {
  HookOutput output;
  output.manifests = std::move(manifests);
  return output;
}

std::vector<std::string> kinds(const WritePlan& plan) {
  std::vector<std::string> out;
  for (const Manifest& child : plan.manifests) out.push_back(child.type.gvk.kind);
  return out;
}

}  // namespace

TEST_CASE("namespaces go first, then CRDs, then the rest as printed") {
  World world;
  const auto plan = make_plan(
      printed({manifest("", "ConfigMap", "shop", "c"), manifest("demo.dev", "Thing", "shop", "t"),
               manifest("apiextensions.k8s.io", "CustomResourceDefinition", "", "things.demo.dev"),
               manifest("", "Namespace", "", "n")}),
      world.input());
  CHECK(kinds(plan) ==
        std::vector<std::string>{"Namespace", "CustomResourceDefinition", "ConfigMap", "Thing"});
  CHECK(plan.manifests[0].object["metadata"]["labels"]["kubewatch.dev/owner-uid"] == "uid-1");
}

TEST_CASE("what is looked up as others are written goes before them, in `create` too") {
  World world;
  const std::vector<std::pair<std::string, std::string>> looked_up = {
      {"", "ServiceAccount"},
      {"scheduling.k8s.io", "PriorityClass"},
      {"rbac.authorization.k8s.io", "Role"}};
  for (const auto& [group, kind] : looked_up) {
    HookOutput output = printed(
        {manifest("", "Pod", "shop", "p"),
         // Of another group the kind is one like any.
         manifest("demo.dev", kind, "shop", "a"), manifest(group, kind, "shop", "a"),
         manifest("apiextensions.k8s.io", "CustomResourceDefinition", "", "things.demo.dev")});
    output.create = {manifest("rbac.authorization.k8s.io", "RoleBinding", "shop", "b"),
                     manifest(group, kind, "shop", "b")};
    const auto plan = make_plan(std::move(output), world.input());
    CHECK(kinds(plan) == std::vector<std::string>{"CustomResourceDefinition", kind, "Pod", kind});
    CHECK(plan.manifests[1].type.gvk.group == group);
    REQUIRE(plan.create.size() == 2);
    CHECK(plan.create[0].type.gvk.kind == kind);
  }
}

TEST_CASE("a run that prints nothing prunes nothing, children: none prunes all") {
  World world;
  CHECK_FALSE(make_plan(printed({}), world.input()).prune);
  CHECK(make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), world.input()).prune);
  HookOutput none;
  none.result.emplace();
  none.result->children_none = true;
  const auto plan = make_plan(none, world.input());
  CHECK(plan.prune);
  CHECK(plan.keep.empty());
  CHECK_FALSE(plan.remove_children);
}

TEST_CASE("children: none of an object that goes counts with done alone") {
  World world;
  HookOutput none;
  none.result.emplace();
  none.result->children_none = true;
  PlanInput input = world.input();
  input.finalizing = true;
  CHECK(make_plan(none, input).remove_children);
  CHECK_FALSE(make_plan(printed({}), input).remove_children);
  world.rule.apply.prune = false;  // not of what is there for the object's life alone
  CHECK(make_plan(none, input).remove_children);
  world.rule.apply.prune = true;
  world.verdict.outcome = Outcome::not_yet;
  CHECK_FALSE(make_plan(none, input).remove_children);
  CHECK_FALSE(make_plan(none, world.input()).prune);
  CHECK_FALSE(make_plan(none, input).prune);
  world.verdict.outcome = Outcome::permanent;
  CHECK_FALSE(make_plan(none, input).remove_children);
  CHECK_FALSE(make_plan(none, world.input()).prune);
}

TEST_CASE("not yet writes everything but prune") {
  World world;
  world.verdict.outcome = Outcome::not_yet;
  const auto plan = make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), world.input());
  CHECK(plan.manifests.size() == 1);
  CHECK_FALSE(plan.prune);
}

TEST_CASE("apply.prune: false and finalizing never prune") {
  World world;
  world.rule.apply.prune = false;
  CHECK_FALSE(make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), world.input()).prune);
  world.rule.apply.prune = true;
  PlanInput input = world.input();
  input.finalizing = true;
  CHECK_FALSE(make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), input).prune);
}

TEST_CASE("a permanent failure writes status and conditions only, and one that names the error") {
  World world;
  world.verdict = {Outcome::permanent, "exit code 65: no", {}};
  HookOutput output = printed({manifest("", "ConfigMap", "shop", "c")});
  output.result.emplace();
  output.result->status = Json{{"ready", false}};
  const auto plan = make_plan(output, world.input());
  CHECK(plan.manifests.empty());
  CHECK(*plan.status == Json{{"ready", false}});
  CHECK(plan.status_alone);
  REQUIRE(plan.conditions.size() == 1);
  CHECK(plan.conditions[0] == error_condition("HookFailed", "exit code 65: no"));
}

TEST_CASE("our error condition is not added where the hook prints it or the kind has none") {
  World world;
  world.verdict = {Outcome::permanent, "no", {}};
  HookOutput output;
  output.result.emplace();
  output.result->conditions = {error_condition("Mine", "own words")};
  const auto printed_itself = make_plan(output, world.input());
  REQUIRE(printed_itself.conditions.size() == 1);
  CHECK(printed_itself.conditions[0]["reason"] == "Mine");
  PlanInput input = world.input();
  input.has_conditions = false;
  CHECK(make_plan(HookOutput{}, input).conditions.empty());
}

TEST_CASE("our error condition goes where the hook removes it, but not while it fails for good") {
  World world;
  HookOutput output;
  output.result.emplace();
  output.result->conditions = {{{"type", kErrorCondition}, {"status", nullptr}}};
  PlanInput input = world.input();
  input.shows_error = true;
  const auto done = make_plan(output, input);
  REQUIRE(done.conditions.size() == 1);
  CHECK(is_removal(done.conditions[0]));
  world.verdict = {Outcome::permanent, "no", {}};
  const auto failed = make_plan(output, input);
  REQUIRE(failed.conditions.size() == 1);
  CHECK(failed.conditions[0] == error_condition(kHookFailedReason, "no"));
}

TEST_CASE("a message that no condition can hold is cut between two characters") {
  const std::string fits(32767, 'x');
  CHECK(error_condition("No", fits + "\u00e9")["message"] == fits);
}

TEST_CASE("a success clears the error condition that is shown") {
  World world;
  PlanInput input = world.input();
  input.shows_error = true;
  const auto plan = make_plan(HookOutput{}, input);
  REQUIRE(plan.conditions.size() == 1);
  CHECK(plan.conditions[0]["status"] == "True");
  input.shows_error = false;
  CHECK(make_plan(HookOutput{}, input).conditions.empty());
}

TEST_CASE("not yet takes the place of the error that is shown") {
  World world;
  world.verdict = {Outcome::not_yet, "waits for the job", {}};
  PlanInput input = world.input();
  CHECK(make_plan(HookOutput{}, input).conditions.empty());
  input.shows_error = true;
  const auto plan = make_plan(HookOutput{}, input);
  REQUIRE(plan.conditions.size() == 1);
  CHECK(plan.conditions[0] == error_condition("NotYet", "waits for the job"));
}

TEST_CASE("our error condition is known by its reason from one that others have written") {
  CHECK(is_error_condition(error_condition(kHookFailedReason, "no")));
  CHECK(is_error_condition(error_condition(kNotYetReason, "")));
  CHECK(is_error_condition(error_condition(kIncompleteInputReason, "")));
  CHECK_FALSE(is_error_condition(error_condition("WaitingForDns", "no zone")));
  Json over = error_condition(kHookFailedReason, "");
  over["status"] = "True";
  CHECK_FALSE(is_error_condition(over));
  Json other = error_condition(kHookFailedReason, "");
  other["type"] = "Ready";
  CHECK_FALSE(is_error_condition(other));
}

TEST_CASE("what kubewatch itself says of a run is known from what a hook says") {
  World world;
  PlanInput input = world.input();
  input.shows_error = true;
  CHECK(yields_to_failure(make_plan(HookOutput{}, input).conditions.at(0)));
  CHECK(yields_to_failure(error_condition(kNotYetReason, "waits")));
  CHECK_FALSE(yields_to_failure(error_condition(kHookFailedReason, "no")));
  CHECK_FALSE(yields_to_failure(error_condition("WaitingForDns", "no zone")));
  CHECK_FALSE(yields_to_failure({{"type", kErrorCondition},
                                 {"status", "True"},
                                 {"reason", "Succeeded"},
                                 {"message", "all is there"}}));
  CHECK_FALSE(yields_to_failure({{"type", kErrorCondition}, {"status", nullptr}}));
}

TEST_CASE("a child in another namespace asks for the finalizer, and its end lets go of it") {
  World world;
  CHECK(
      make_plan(printed({manifest("", "ConfigMap", "blog", "c")}), world.input()).needs_finalizer);
  PlanInput input = world.input();
  input.has_finalizer = true;
  const auto plan = make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), input);
  CHECK_FALSE(plan.needs_finalizer);
  CHECK(plan.drop_finalizer);
  world.rule.finalize.emplace();
  CHECK_FALSE(make_plan(printed({manifest("", "ConfigMap", "shop", "c")}), input).drop_finalizer);
}
