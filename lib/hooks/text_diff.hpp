// Two texts as a unified diff. Pure.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::hooks {

// "" when they are equal. Lines of context around each change as diff -u has them; without file
// names. Texts of many lines that have little in common are shown as removed and added as a whole.
std::string unified_diff(std::string_view before, std::string_view after, std::size_t context = 3);

}  // namespace kubewatch::hooks
