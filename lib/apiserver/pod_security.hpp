// Pod Security admission as a kube-apiserver has it by default: what is asked of Pods are the
// labels of their namespace, nobody is exempt, and a namespace without such labels costs nothing.
// The standards themselves are builtin/pod_security's. No HTTP, no clock.
#pragma once

#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// Of a valid object, `live` being null for a new one: a namespace with such labels, a Pod, or what
// makes Pods, which is only warned of. Errors: forbidden, invalid.
Result<void> check_pod_security(const Storage& storage, const WriteContext& context,
                                const Json* live, const Json& object);

}  // namespace kubewatch::apiserver
