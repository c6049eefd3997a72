// Where a part of a loaded rule stands in its file. Reads the file again.
#pragma once

#include <string>

namespace kubewatch::hooks {

// "rules.yaml:12"; the file alone when it cannot be read any more.
std::string place_in_rule(const std::string& file, const std::string& controller,
                          const std::string& pointer);

}  // namespace kubewatch::hooks
