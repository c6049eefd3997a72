// Discovery answers as resource types: the aggregated document and the old lists. No I/O. A
// document of another shape is none: it says nothing of what the server has. What is odd inside of
// one is left out: one odd group must not hide the others.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::client {

struct DiscoveredGroups {
  std::vector<core::ResourceType> types;
  std::vector<std::string> failed;  // "metrics.k8s.io/v1beta1: ..."
  bool names_version = false;       // at least one, be it without a kind
};

// APIGroupDiscoveryList, v2 or v2beta1.
bool is_aggregated(const Json& document);

// Errors of all that read: invalid (another document).
Result<DiscoveredGroups> read_aggregated(const Json& document);
// APIVersions of /api, in its order.
Result<std::vector<core::GroupVersion>> read_core_versions(const Json& document);
// APIGroupList of /apis: groups in its order, the preferred version first.
Result<std::vector<core::GroupVersion>> read_group_versions(const Json& document);
// APIResourceList of one group version.
Result<std::vector<core::ResourceType>> read_resource_list(const Json& document,
                                                           const core::GroupVersion& gv);

}  // namespace kubewatch::client
