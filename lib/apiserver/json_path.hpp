// The part of kubectl's JSONPath that CRDs use in printer columns and scale paths: .a.b, ['a.b'],
// [0], [*],
// [?(@.type=="Ready")]. Anything else finds nothing.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::apiserver {

// The values at the path, in order; pointers into `value`.
std::vector<const Json*> json_path_find(const Json& value, std::string_view path);

// Sets the value at a path of plain fields (".spec.replicas"), making objects on the way; false
// when the path has anything else or meets something that is no object.
bool json_path_set(Json& value, std::string_view path, Json what);

}  // namespace kubewatch::apiserver
