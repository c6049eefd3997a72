// Programs that kubewatch runs for its user: git, kustomize.
#pragma once

#include <string>

namespace kubewatch::cli {

// As a shell would find it in $PATH (/usr/bin:/bin where that is not set), but never in an empty or
// relative folder of it: what lies in the working folder is somebody else's. "" when there is none.
std::string find_program(const std::string& name);

}  // namespace kubewatch::cli
