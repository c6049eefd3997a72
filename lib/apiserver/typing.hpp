// What reading a built-in kind into the server's own types does to it: fields that the type lacks
// are lost, values of another type are refused. By the merge schema; pure. Custom kinds:
// structural.hpp.
#pragma once

#include <string>
#include <vector>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// Returns the paths removed ("spec.x", "spec.list[0].y"), as many as can be told.
std::vector<std::string> prune_typed(Json& object, const Resource& resource);
// Leaves what such a type holds (builtin/typed_form.hpp). Errors: bad_request.
Result<void> read_typed(Json& object, const Resource& resource);

}  // namespace kubewatch::apiserver
