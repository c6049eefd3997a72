// The name of our JSON value, for headers: includes no JSON library code.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace kubewatch {
using Json = nlohmann::json;
}  // namespace kubewatch
