// What the server alone or another client writes into an object's metadata, and how objects are
// compared or kept without it. Pure.
#pragma once

#include <initializer_list>

#include "base/json_fwd.hpp"

namespace kubewatch::core {

// kubectl keeps the whole object there as it applied it last, with the values of then.
inline constexpr const char* kLastAppliedAnnotation =
    "kubectl.kubernetes.io/last-applied-configuration";
// The same as a JSON pointer (RFC 6901) into the object.
inline constexpr const char* kLastAppliedPointer =
    "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";

// Takes these members out of the object's metadata. Nothing where it has none, or one that is no
// map: a server may send anything.
void drop_metadata(Json& object, std::initializer_list<const char*> keys);

}  // namespace kubewatch::core
