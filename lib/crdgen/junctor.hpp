// allOf, anyOf, oneOf and not of a schema, for who compares or shows them. Pure.
#pragma once

#include "base/json.hpp"

namespace kubewatch::crdgen {

// The value of a junctor without what generators write beside x-kubernetes-int-or-string and which
// says the same; null where nothing is left.
Json junctor_of(const Json& schema, const char* key);

}  // namespace kubewatch::crdgen
