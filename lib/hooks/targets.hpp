// What `map` and `refs` programs print: the objects meant. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// Each value is {name, namespace}, a list of such, or null (nobody). A missing namespace is
// `default_namespace`; with `namespaced` false the namespace is dropped. Other members beside a
// name count for nothing, and so does a name that is null. Sorted, without doubles. A mapping that
// has other members and no name is an error, or with `nameless` nobody: what is wrong with the
// first one is written there. Errors: invalid.
Result<std::vector<core::ObjectKey>> read_targets(const std::vector<Json>& values, bool namespaced,
                                                  const std::string& default_namespace,
                                                  std::optional<Error>* nameless = nullptr);

}  // namespace kubewatch::hooks
