// What reading a built-in kind into the server's own types does to it, once fields that the type
// lacks are gone (builtin/misread.hpp): values of another type are refused. Pure. Custom kinds:
// structural.hpp.
#pragma once

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// Leaves what such a type holds (builtin/typed_form.hpp). Errors: bad_request.
Result<void> read_typed(Json& object, const Resource& resource);

}  // namespace kubewatch::apiserver
