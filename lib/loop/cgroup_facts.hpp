// What choose_cgroup() wants to know of this process, read from /proc and the hierarchy. Reads
// only.
#pragma once

#include <string>

#include "base/result.hpp"
#include "loop/cgroup_place.hpp"

namespace kubewatch::loop {

// This process, or one that descends from it.
bool is_of_ours(pid_t pid);
// Of a folder of a hierarchy.
CgroupFolder read_cgroup_folder(const std::string& path);
// Errors: those of find_own_cgroup().
Result<CgroupFacts> read_cgroup_facts();

}  // namespace kubewatch::loop
