// PATH of hooks and trigger programs where this process has none, and where their programs are then
// looked for.
#pragma once

#include <string_view>

namespace kubewatch::hooks {

inline constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace kubewatch::hooks
