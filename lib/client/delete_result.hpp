// What the answer to a DELETE says of the object.
#pragma once

#include "base/json_fwd.hpp"

namespace kubewatch::client {

// Nothing of the object is left. Else it is dying. Many kinds
// are answered with the object as it was, without a deletionTimestamp; an object that dies at once
// with one, and no time.
bool is_gone(const Json& answer);

}  // namespace kubewatch::client
