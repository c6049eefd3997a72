// The files that make a hook what it is, and whether they are still as they were.
#pragma once

#include <string>
#include <vector>

#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// Absolute paths: the program and the arguments that are files. Of `shell` none: the rule has it.
std::vector<std::string> program_files_of(const HookRule& hook);

// Changes when the file is written or replaced: inode, size, time and mode. "" = it is missing.
std::string file_stamp(const std::string& path);

}  // namespace kubewatch::hooks
