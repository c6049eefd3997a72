// Where kinds that make Pods keep the template of them. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

// "spec.template"; "" of what has none.
std::string template_path(const std::string& storage_id);
// Null where the object has none.
const Json* pod_template(const std::string& storage_id, const Json& object);

}  // namespace kubewatch::builtin
