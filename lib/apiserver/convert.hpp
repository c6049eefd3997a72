// Between the version an object is stored in and the version it is served in. Strategy None for
// CRDs: only apiVersion changes; events are served in two API groups with different field names.
#pragma once

#include "apiserver/resource.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

Json to_served(const Resource& resource, Json stored);
Json to_stored(const Resource& resource, Json served);

}  // namespace kubewatch::apiserver
