// Types that every Kubernetes API shares, for use by name in TypeDefinitions: metav1.Condition,
// corev1.EnvVar, Quantity. Written in our own shorthand, expanded once. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// Null when there is no such type. Lives as long as the program.
const Json* core_type(const std::string& name);
std::vector<std::string> core_type_names();
// The core type whose schema this is, "" when it is none.
std::string core_type_of(const Json& schema);

}  // namespace kubewatch::crdgen
