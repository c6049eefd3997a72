// Where in a PATH a program lies.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::base {

// What is searched where this process has no PATH, and what hooks then get as theirs.
inline constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// $PATH, or kDefaultPath where that is not set.
std::string search_path();
// As a shell finds it in `path`, folders with colons between them, but never in an empty or
// relative one: what lies in the working folder is somebody else's. "" when no folder has it.
std::string find_program(const std::string& name, std::string_view path = search_path());

}  // namespace kubewatch::base
