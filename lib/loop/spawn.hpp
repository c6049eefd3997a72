// One clone that shares our memory, and execve. The child runs on a stack of its own and makes
// system calls only. Not the life of the process after that: see process.hpp.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/memfd.hpp"
#include "loop/process.hpp"

namespace kubewatch::loop {

// Where the child finds its input a second time, beside stdin, if it is to keep it.
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
  int cgroup = -1;          // the folder of one: the child is born in it. -1: it stays in ours
  // false: not until the program runs. Starting one takes its turn on a processor and may take a
  // file from a slow disk; nothing else happens meanwhile with true.
  bool wait = true;
};

// What a child reads and writes before it is its program. Handed back it serves another child.
class SpawnState;
struct KeepSpawnState {
  void operator()(SpawnState* state) const;
};
using SpawnStatePtr = std::unique_ptr<SpawnState, KeepSpawnState>;

struct Spawned {
  Spawned();
  Spawned(Spawned&&) noexcept;
  Spawned& operator=(Spawned&&) noexcept;
  ~Spawned();

  // It is a program of its own (or has ended). Until then what it uses of memory is ours.
  bool begun() const;
  // Once it has ended, of one that was not waited for: why it never became its program. Errors as
  // spawn()'s.
  std::optional<Error> refusal() const;

  pid_t pid = -1;
  Fd pidfd;
  // Without wait: to be kept, with all that the request refers to, until the process has ended.
  SpawnStatePtr state;
};

// The child leads its own process group (without wait: as soon as it runs), has default signals and
// an empty mask, and no descriptors but the given ones. Errors: not_found, forbidden, invalid,
// unavailable, naming the path.
Result<Spawned> spawn(const SpawnRequest& request);

// The kernel takes SpawnRequest::cgroup, and nothing forbids it.
bool can_spawn_in_cgroup();

}  // namespace kubewatch::loop
