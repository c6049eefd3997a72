// Compact JSON as Go's encoder writes it, for who has to say what a program in Go says. Pure.
#pragma once

#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::core {

// Keys sorted; what HTML or JavaScript would take for its own is escaped: <, > and & as \u003c,
// \u003e and \u0026, and U+2028 and U+2029.
std::string go_json(const Json& value);

}  // namespace kubewatch::core
