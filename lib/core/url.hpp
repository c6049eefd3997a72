// URL paths of the Kubernetes API. Every segment is percent-encoded: names come from outside. No
// I/O.
#pragma once

#include <string>

#include "core/resource.hpp"

namespace kubewatch::core {

// "/api/v1", "/apis/apps/v1".
std::string group_version_path(const GroupVersion& gv);
// "/api/v1/namespaces/shop/pods", "/apis/apps/v1/deployments" (namespace "" = all or
// cluster-scoped).
std::string collection_path(const ResourceType& type, const std::string& namespace_);
// ".../NAME", ".../NAME/status".
std::string object_path(const ResourceType& type, const ObjectKey& key,
                        const std::string& subresource = "");

}  // namespace kubewatch::core
