// Values as the server's sentences show them. Pure.
#pragma once

#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::schema {

// What Go's JSON decoder calls a value that it did not expect: "number", "bool", "string".
std::string json_word(const Json& value);
// As fmt prints it (%v): map[a:5 b:<nil> c:[x y]].
std::string go_text(const Json& value);

}  // namespace kubewatch::schema
