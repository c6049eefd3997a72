// What admission makes of Pods by objects beside them: the priority of their PriorityClass, the
// overhead and the nodes of their RuntimeClass; and that there is one default among
// PriorityClasses. Not what it fills in by itself: that is builtin/defaults.hpp's. No HTTP, no
// clock.
#pragma once

#include "apiserver/resource.hpp"
#include "apiserver/storage.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// A new Pod that has all else; other kinds are left alone. Errors: forbidden.
Result<void> admit_new(const Storage& storage, const Resource& resource, Json& object);

// Whether a Pod as it was sent says an overhead: an empty one counts, and is gone from its typed
// form.
bool sends_overhead(const Resource& resource, const Json& sent);

// What is refused of a valid object, `live` being null for a new one. Errors: forbidden.
Result<void> check_admitted(const Storage& storage, const Resource& resource, const Json* live,
                            const Json& object, bool sent_overhead = false);

}  // namespace kubewatch::apiserver
