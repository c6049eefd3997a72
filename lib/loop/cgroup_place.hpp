// Whether our children may be put into cgroups (v2) of their own, and below which folder, from what
// the kernel's files say. Pure: reading them is cgroup_facts, making folders is cgroup_tree.
// Sources: cgroup-v2.rst, "Organizing Processes and Threads", "No Internal Process Constraint",
// "Delegation"; proc(5) for mountinfo; systemd's CGROUP_DELEGATION for user.delegate.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::loop {

// Those that limits need. The CPU time of a cgroup is counted without any.
struct CgroupControllers {
  bool memory = false;
  bool pids = false;
  bool any() const { return memory || pids; }
};

// Those in a text as that of cgroup.controllers: words between spaces.
CgroupControllers controllers_in(std::string_view text);

struct CgroupMember {
  pid_t pid = 0;      // 0: of a process namespace that we do not see
  bool ours = false;  // this process, or a descendant of it
  std::string name;
};

// What is known of a folder of the hierarchy.
struct CgroupFolder {
  std::string path;
  std::string type;         // cgroup.type; "": the root of the hierarchy has none
  std::string controllers;  // cgroup.controllers, words between spaces
  std::vector<CgroupMember> members;
  bool writable = false;   // the folder, its cgroup.procs and its cgroup.subtree_control
  bool delegated = false;  // systemd has marked it as given away (user.delegate = 1)
};

struct CgroupFacts {
  CgroupFolder own;
  std::optional<CgroupFolder> above;  // absent: `own` is the topmost that we see
  bool systemd = false;               // it runs here, and folders that it did not give away are its
  bool clones_into = true;            // the kernel starts processes in a cgroup (clone3)
};

struct CgroupPlace {
  std::string path;  // folders are made here
  CgroupControllers controllers;
  // We are in it and must leave it for a folder below: a cgroup that distributes memory among its
  // children may have no processes of its own.
  bool move = false;
};

struct OwnCgroup {
  std::string path;     // in the file system
  bool topmost = true;  // nothing above it is mounted
};

// From the texts of /proc/self/cgroup and /proc/self/mountinfo. Errors: unsupported, with why.
Result<OwnCgroup> find_own_cgroup(std::string_view cgroup, std::string_view mountinfo);
// Errors: unsupported, with why: for the log, naming folder and processes.
Result<CgroupPlace> choose_cgroup(const CgroupFacts& facts);

}  // namespace kubewatch::loop
