// SHA-256 (FIPS 180-4), for names that others compute as well, as the ids of ApplySets. Not for
// passwords, and no keyed hash.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubewatch::base {

// 32 bytes.
std::string sha256(std::string_view bytes);

}  // namespace kubewatch::base
