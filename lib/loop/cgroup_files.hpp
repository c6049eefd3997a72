// Files and folders of a cgroup hierarchy: texts read and written, everything in a folder killed.
// Knows no policy. Internal to the cgroup files of this room.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::loop {

// "" where there is none, or it cannot be read.
std::string read_cgroup_file(const std::string& path);
// In one write, as the kernel wants it; a file that is not there is not made. Errors: not_found,
// unavailable, naming the file.
Result<void> write_cgroup_file(const std::string& path, std::string_view text);
// The numbers in a text as that of cgroup.procs.
std::vector<pid_t> parse_pids(std::string_view text);
std::vector<std::string> folders_in(const std::string& path);
// What is in the folder and below it gets KILL; it dies a little later.
void kill_cgroup(const std::string& path);

}  // namespace kubewatch::loop
