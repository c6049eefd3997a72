// How long tests wait for what must come. It costs nothing while all is well, and machines that run
// the tests are busy.
#pragma once

#include "base/time.hpp"

namespace kubewatch {

inline constexpr Duration kLimit{30000};

}  // namespace kubewatch
