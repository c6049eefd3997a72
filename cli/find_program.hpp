// Programs that kubewatch runs for its user: git, kustomize.
#pragma once

#include <string>

namespace kubewatch::cli {

// In $PATH, by the rules of base/find_program.hpp.
std::string find_program(const std::string& name);

}  // namespace kubewatch::cli
