// What the node of a Pod must be for its containers to be resized there: the two admission plugins
// of the real server that look at it. What may be resized at all is
// builtin/validation_pod_subresources.hpp's. Pure.
#pragma once

#include "apiserver/storage.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// `resized`: the Pod as it would be. Errors: forbidden.
Result<void> admit_resize(const Storage& storage, const Json& live, const Json& resized);

}  // namespace kubewatch::apiserver
