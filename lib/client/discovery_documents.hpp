// Discovery answers as resource types: the aggregated document and the old lists. No I/O. What does
// not have the expected shape is left out: discovery of one odd group must not hide the others.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "core/resource.hpp"

namespace kubewatch::client {

struct DiscoveredGroups {
  std::vector<core::ResourceType> types;
  std::vector<std::string> failed;  // "metrics.k8s.io/v1beta1: ..."
};

// APIGroupDiscoveryList, v2 or v2beta1.
bool is_aggregated(const Json& document);
DiscoveredGroups read_aggregated(const Json& document);
// APIVersions of /api, in its order.
std::vector<core::GroupVersion> read_core_versions(const Json& document);
// APIGroupList of /apis: groups in its order, the preferred version first.
std::vector<core::GroupVersion> read_group_versions(const Json& document);
// APIResourceList of one group version.
std::vector<core::ResourceType> read_resource_list(const Json& document,
                                                   const core::GroupVersion& gv);

}  // namespace kubewatch::client
