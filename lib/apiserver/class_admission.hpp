// What admission makes of an Ingress and of a claim by the classes beside them: the default
// IngressClass, and whether a volume may grow. What it makes of Pods is pod_admission.hpp's. No
// HTTP, no clock.
#pragma once

#include "apiserver/resource.hpp"
#include "apiserver/storage.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// A new Ingress that names no class gets the default one; other kinds are left alone.
void take_default_class(const Storage& storage, const Resource& resource, Json& object);

// Of a valid update: a PersistentVolumeClaim grows only where its StorageClass allows it. Errors:
// forbidden.
Result<void> check_growth(const Storage& storage, const Resource& resource, const Json& before,
                          const Json& after);

}  // namespace kubewatch::apiserver
