// Fields that a kube-apiserver knows and does not keep: those of features that are off by default,
// and those that only its older versions had. Not what an object may say otherwise: unknown fields
// are the schema's. Pure; any JSON may come, null is absent.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

// `live`: what is updated, null for a new object; what it has already it may keep.
void drop_disabled_fields(const std::string& storage_id, const Json* live, Json& object);

}  // namespace kubewatch::builtin
