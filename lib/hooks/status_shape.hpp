// What a kind's schema says about status.conditions: whether server-side apply can merge them, and
// which of the fields that kubewatch keeps they may have. Pure.
#pragma once

#include <string>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

struct StatusShape {
  bool known = false;      // false: no schema could be read; the rest is a guess
  bool conditions = true;  // status.conditions exists
  bool list_map = false;   // x-kubernetes-list-type: map with the key `type`
  bool observed_generation = false;
  bool transition_time = true;
};

StatusShape unknown_status_shape();
// Of one version of a CustomResourceDefinition; unknown when it has no such version.
StatusShape status_shape_of_crd(const Json& crd, const std::string& version);
// Built-in kinds, from the compiled-in table; unknown when the table lacks the kind.
StatusShape status_shape_of_builtin(const core::Gvk& gvk);
// Errors: invalid when the schema is known and has no status.conditions.
Result<void> check_has_conditions(const StatusShape& shape, const core::Gvk& gvk);

}  // namespace kubewatch::hooks
