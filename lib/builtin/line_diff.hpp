// The difference of two texts in the unified form, as the API server shows what an update would
// change: by longest common blocks, three lines of context, no names of files. Pure.
#pragma once

#include <string>

namespace kubewatch::builtin {

// "" when they are the same.
std::string line_diff(const std::string& before, const std::string& after);

}  // namespace kubewatch::builtin
