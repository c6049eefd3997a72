// Internal to loop: which processes there are, and the files that the kernel has of each. What they
// say: process_table.hpp.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace kubewatch::loop {

// A file of /proc/PID, `limit` bytes of it or some more; "" where it cannot be read.
std::string read_proc(pid_t pid, const char* file, std::size_t limit = 8192);
// The numbers of all processes from `lowest` on. A scan of /proc.
std::vector<pid_t> pids_from(pid_t lowest);

}  // namespace kubewatch::loop
