// Programs that kubewatch runs for its user: git, kustomize.
#pragma once

#include <string>

namespace kubewatch::cli {

// In $PATH, /usr/bin:/bin where that is not set, by the rules of base/find_program.hpp.
std::string find_program(const std::string& name);

}  // namespace kubewatch::cli
