// Which kind of the server somebody may have meant. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::hooks {

// "v1 Secret" for `v1 secret`, `v2 Secret` and `apps/v1 Secret`; of several those of the same
// group, or all with "or" between them, the first three. "": the server has none of that name.
std::string close_kind(const std::vector<core::ResourceType>& all, const core::Gvk& wanted);

}  // namespace kubewatch::hooks
