// Whether a body of a built-in kind is of the kind that its endpoint takes, and what the server
// says where it is of another, which it may know or not. Pure. Custom kinds: writer.cpp.
#pragma once

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// What the body does not say of apiVersion and kind is as the endpoint has it. Errors: bad_request.
Result<void> check_body_kind(const Resource& resource, const Json& body);

}  // namespace kubewatch::apiserver
