// Lists of strings inside objects and discovery documents: short names, verbs, categories. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::apiserver {

// The strings of the list under `key`; none when it is absent or no list. `owner` is an object.
std::vector<std::string> strings_at(const Json& owner, const char* key);

}  // namespace kubewatch::apiserver
