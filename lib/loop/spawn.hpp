// One vfork-like clone and execve. The child runs on a stack of its own in our memory while we are
// suspended, and makes system calls only. Not the life of the process after that: see process.hpp.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/memfd.hpp"
#include "loop/process.hpp"

namespace kubewatch::loop {

// Where the child finds its input a second time, beside stdin.
inline constexpr int kInputFd = 3;

struct SpawnRequest {
  const std::vector<std::string>& argv;
  const std::vector<std::string>& environment;
  const std::string& directory;
  const ProcessLimits& limits;
  int input = -1;
  int output = -1;
  int errors = -1;
  bool keep_input = false;  // also at kInputFd
  bool own_group = true;    // else it stays in ours
};

struct Spawned {
  pid_t pid = -1;
  Fd pidfd;
};

// The child leads its own process group, has default signals and an empty mask, and no descriptors
// but the given ones. Errors: not_found, forbidden, invalid, unavailable, naming the path.
Result<Spawned> spawn(const SpawnRequest& request);

}  // namespace kubewatch::loop
