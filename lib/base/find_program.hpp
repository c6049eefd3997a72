// Where in a PATH a program lies.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::base {

// As a shell finds it in `path`, folders with colons between them, but never in an empty or
// relative one: what lies in the working folder is somebody else's. "" when no folder has it.
std::string find_program(const std::string& name, std::string_view path);
// $PATH, or /usr/bin:/bin where that is not set.
std::string search_path();

}  // namespace kubewatch::base
