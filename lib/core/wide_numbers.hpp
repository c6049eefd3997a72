// Whole numbers beyond 64 bits for simdjson, which takes them for no JSON: API servers write every
// float64 below 1e21 as a whole number, such as 100000000000000000000 for 1e20. Internal to those
// who use simdjson, whose releases have several words for it: what it refuses is tried once more.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::core {

// The same JSON with ".0" behind what is too wide: only where a float64 will do.
std::string with_wide_numbers(std::string_view json);

}  // namespace kubewatch::core
