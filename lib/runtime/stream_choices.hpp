// What users may choose of a list and watch: the words and the bounds, the same in rule files
// (`list:`) and as flags of the commands that watch.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "runtime/watcher.hpp"

namespace kubewatch::runtime {

inline constexpr std::array<std::pair<std::string_view, ListStrategy>, 4> kListStrategies = {
    {{"auto", ListStrategy::automatic},
     {"paged", ListStrategy::paged},
     {"unpaged", ListStrategy::unpaged},
     {"streaming", ListStrategy::streaming}}};
inline constexpr std::array<std::pair<std::string_view, ListSemantics>, 3> kListSemantics = {
    {{"recent", ListSemantics::recent},
     {"any", ListSemantics::any},
     {"notOlderThan", ListSemantics::not_older_than}}};

inline constexpr std::uint32_t kMaxPageSize = 10000;
// A shorter watch is more reconnecting than watching. A longer one than 294 s would be ended by the
// client's own limits, and a clean end would look like a fault.
inline constexpr Duration kMinWatchTimeout{5000};
inline constexpr Duration kMaxWatchTimeout{294000};
inline constexpr Duration kMinBackoff{10};
inline constexpr Duration kMaxBackoff{3600000};

}  // namespace kubewatch::runtime
