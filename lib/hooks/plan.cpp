// The order of writes, and what is written at all.
#include "hooks/plan.hpp"

#include <algorithm>

#include "base/cut_text.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxConditionMessage = 32768;

const core::Gvk& gvk_of(const Manifest& manifest) {
  return manifest.type.gvk;
}

Json success_condition() {
  return {{"type", kErrorCondition}, {"status", "True"}, {"reason", "Succeeded"}, {"message", ""}};
}

bool prints_condition(const std::vector<Json>& conditions, std::string_view type) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Json& condition) { return condition["type"] == type; });
}

void label_children(std::vector<Manifest>& children, const PlanInput& input, WritePlan& plan) {
  for (Manifest& child : children) {
    if (needs_finalizer(input.owner, input.rule.apply.owner_reference, child.key.namespace_)) {
      plan.needs_finalizer = true;
    }
    child.object = with_ownership(std::move(child.object), input.rule.name, input.owner,
                                  input.rule.apply.owner_reference);
    plan.keep.push_back(child.id());
  }
}

void plan_status(std::optional<HookResult>& result, const PlanInput& input, WritePlan& plan) {
  if (result) {
    plan.status = std::move(result->status);
    plan.conditions = std::move(result->conditions);
  }
  // Whoever removes it has not said what fails.
  if (input.verdict.outcome == Outcome::permanent) {
    std::erase_if(plan.conditions, [](const Json& condition) {
      return is_removal(condition) && condition["type"] == kErrorCondition;
    });
  }
  if (!input.has_conditions || prints_condition(plan.conditions, kErrorCondition)) return;
  if (input.verdict.outcome == Outcome::permanent) {
    plan.conditions.push_back(error_condition(kHookFailedReason, input.verdict.message));
  } else if (input.shows_error && input.verdict.outcome == Outcome::done) {
    // The finalizer is yet to go, which may be what failed before.
    if (input.finalizing) return;
    plan.conditions.push_back(success_condition());
  } else if (input.shows_error && input.verdict.outcome == Outcome::not_yet) {
    // What failed before is no longer what keeps it from being done.
    plan.conditions.push_back(error_condition(kNotYetReason, input.verdict.message));
  }
}

}  // namespace

Json error_condition(std::string_view reason, const std::string& message) {
  return {{"type", kErrorCondition},
          {"status", "False"},
          {"reason", reason},
          {"message", base::cut_text(message, kMaxConditionMessage)}};
}

bool is_error_condition(const Json& condition) {
  if (base::string_at(condition, {"type"}) != kErrorCondition ||
      base::string_at(condition, {"status"}) != "False") {
    return false;
  }
  const std::string reason = base::string_at(condition, {"reason"});
  return reason == kConflictReason || reason == kHookFailedReason || reason == kWriteFailedReason ||
         reason == kNotYetReason || reason == kIncompleteInputReason;
}

bool yields_to_failure(const Json& condition) {
  const Json success = success_condition();
  return (is_error_condition(condition) && condition["reason"] == kNotYetReason) ||
         std::all_of(success.items().begin(), success.items().end(), [&](const auto& member) {
           return condition.contains(member.key()) && condition[member.key()] == member.value();
         });
}

WritePlan make_plan(HookOutput output, const PlanInput& input) {
  WritePlan plan;
  plan.status_alone = !input.verdict.writes_children();
  plan.ask_status = output.ask_status;
  const bool children_none = output.result && output.result->children_none;
  if (input.verdict.writes_children()) {
    const bool printed_any = !output.manifests.empty();
    label_children(output.manifests, input, plan);
    label_children(output.create, input, plan);
    plan.manifests = std::move(output.manifests);
    sort_for_writing(plan.manifests, gvk_of);
    if (output.own) plan.manifests.push_back(std::move(*output.own));
    plan.create = std::move(output.create);
    sort_for_writing(plan.create, gvk_of);
    plan.patches = std::move(output.patches);
    plan.deletes = std::move(output.deletes);
    plan.prune = input.verdict.outcome == Outcome::done && !input.finalizing &&
                 input.rule.apply.prune && (printed_any || children_none);
    plan.remove_children =
        input.finalizing && children_none && input.verdict.outcome == Outcome::done;
    plan.drop_finalizer = plan.prune && input.has_finalizer && !plan.needs_finalizer &&
                          !input.rule.finalize.has_value();
  }
  plan.events = std::move(output.events);
  if (output.result) plan.metrics = std::move(output.result->metrics);
  plan_status(output.result, input, plan);
  return plan;
}

}  // namespace kubewatch::hooks
