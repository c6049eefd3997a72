// What to write to an object's status: one forced apply with what the Result leaves out carried
// over, and conditions merged by type; of other rules what they say failed is left alone. Pure: the
// live object in, requests out; nothing when nothing differs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"
#include "hooks/status_shape.hpp"

namespace kubewatch::hooks {

struct StatusRequest {
  const Json& live;  // as read just now, with managedFields
  core::Gvk gvk;
  std::string manager;
  std::optional<Json> status;    // null values remove
  std::vector<Json> conditions;  // {type, status, reason, message}; removals
  std::int64_t generation = 0;   // that the hook saw
  WallTime now;
  StatusShape shape;
  // What shows that the object is not reconciled is of this manager, as far as is remembered.
  bool wrote_error = false;
  // Of all rules that are loaded now; null: of none but this one.
  const std::set<std::string>* rule_managers = nullptr;
};

struct StatusWrites {
  std::optional<Json> conditions_patch;  // merge patch under the live resourceVersion; goes first
  std::optional<Json> apply;             // forced apply
  // Of `conditions` what yields_to_failure() is left out: another rule has failed, and says so.
  bool own_left_out = false;
};

// Errors: invalid when the kind's schema has no status.conditions and some are to be written.
Result<StatusWrites> plan_status_writes(const StatusRequest& request);

// The printed conditions with observedGeneration and lastTransitionTime as they must be.
std::vector<Json> complete_conditions(const StatusRequest& request);

// What `manager` applied before to the status, with the values of the live object; {} when nothing.
Json applied_status(const Json& live, const std::string& manager);

}  // namespace kubewatch::hooks
