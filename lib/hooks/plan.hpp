// What a finished hook's output leads to, in the order that kubewatch-hook(7) gives. Pure:
// outcome executes it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hooks/output.hpp"
#include "hooks/verdict.hpp"

namespace kubewatch::hooks {

// The condition that names our own error, where the kind has conditions.
inline constexpr std::string_view kErrorCondition = "Reconciled";

// Its reasons. The first, also of an Event: another field manager owns what a hook prints.
inline constexpr std::string_view kConflictReason = "ApplyConflict";
inline constexpr std::string_view kHookFailedReason = "HookFailed";
inline constexpr std::string_view kWriteFailedReason = "WriteFailed";
inline constexpr std::string_view kNotYetReason = "NotYet";
inline constexpr std::string_view kIncompleteInputReason = "IncompleteInput";  // also of an Event

struct WritePlan {
  bool needs_finalizer = false;  // a child that Kubernetes would not remove: guard the owner first
  bool drop_finalizer = false;   // nothing needs the guard any more: take it off after the prune
  std::vector<Manifest> manifests;  // by order_class, the object's own labels last; labelled
  std::vector<Manifest> create;     // by order_class; labelled
  std::vector<PatchTarget> patches;
  std::vector<DeleteTarget> deletes;
  bool prune = false;  // once every apply succeeded
  // Finalizing: all children go, once all else is written and before the finalizer does. Run does
  // it.
  bool remove_children = false;
  std::vector<ChildId> keep;  // printed: never pruned
  std::optional<Json> status;
  std::vector<Json> conditions;
  bool ask_status = false;    // only the server knows whether these are valid
  bool status_alone = false;  // the hook gave up: of a refusal the status itself is to tell
  // Told by run once all of the above is written: what they speak of has happened then.
  std::vector<runtime::Happening> events;
  std::vector<HookMetric> metrics;
};

struct PlanInput {
  const Rule& rule;
  const Owner& owner;
  const Verdict& verdict;
  bool finalizing = false;
  bool has_finalizer = false;  // the owner carries ours now
  // The owner's status has our error condition with status False; it may be another rule's, whom
  // whoever writes must ask.
  bool shows_error = false;
  bool has_conditions = false;  // the kind has status.conditions
};

WritePlan make_plan(HookOutput output, const PlanInput& input);

// {type: Reconciled, status: "False", reason, message}.
Json error_condition(std::string_view reason, const std::string& message);
// One of these: not a condition of that type that a hook or somebody else has written.
bool is_error_condition(const Json& condition);
// What kubewatch says of a run that has not failed, done or not yet: what others say has failed is
// not taken back by it.
bool yields_to_failure(const Json& condition);

}  // namespace kubewatch::hooks
