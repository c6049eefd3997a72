// What the server alone writes into an object's metadata, and how objects are compared or kept
// without it. Pure.
#pragma once

#include <initializer_list>

#include "base/json_fwd.hpp"

namespace kubewatch::core {

// Takes these members out of the object's metadata. Nothing where it has none, or one that is no
// map: a server may send anything.
void drop_metadata(Json& object, std::initializer_list<const char*> keys);

}  // namespace kubewatch::core
