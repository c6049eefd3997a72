// One look at everything.
#include "loop/cgroup_facts.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "base/strings.hpp"
#include "loop/cgroup_files.hpp"
#include "loop/process_table.hpp"
#include "loop/spawn.hpp"

namespace kubewatch::loop {
namespace {

// Of the effective user, and of a file system that is not mounted read-only.
bool may_write(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

// systemd marks what it gave away; only for root under the second name before version 251.
bool is_marked(const std::string& path) {
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    char value = 0;
    if (::getxattr(path.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

}  // namespace

bool is_of_ours(pid_t pid) {
  const pid_t self = getpid();
  for (int i = 0; pid > 1 && pid != self && i < kMaxDescent; ++i) {
    const auto row = process_row(pid);
    pid = row ? row->parent : 0;
  }
  return pid == self;
}

CgroupFolder read_cgroup_folder(const std::string& path) {
  CgroupFolder out;
  out.path = path;
  out.type = base::trim(read_cgroup_file(path + "/cgroup.type"));
  out.controllers = read_cgroup_file(path + "/cgroup.controllers");
  for (const pid_t pid : parse_pids(read_cgroup_file(path + "/cgroup.procs"))) {
    const std::string name = read_cgroup_file("/proc/" + std::to_string(pid) + "/comm");
    out.members.push_back({pid, is_of_ours(pid), std::string(base::trim(name))});
  }
  out.writable = may_write(path) && may_write(path + "/cgroup.procs") &&
                 may_write(path + "/cgroup.subtree_control");
  out.delegated = is_marked(path);
  return out;
}

Result<CgroupFacts> read_cgroup_facts() {
  KW_ASSIGN(const OwnCgroup own, find_own_cgroup(read_cgroup_file("/proc/self/cgroup"),
                                                 read_cgroup_file("/proc/self/mountinfo")));
  CgroupFacts out;
  out.own = read_cgroup_folder(own.path);
  if (!own.topmost) {
    out.above = read_cgroup_folder(std::filesystem::path(own.path).parent_path().string());
  }
  std::error_code ignored;
  out.systemd = std::filesystem::is_directory("/run/systemd/system", ignored);  // sd_booted(3)
  out.clones_into = can_spawn_in_cgroup();
  return out;
}

}  // namespace kubewatch::loop
