// The private HOME folders of a rule's hooks. One that a hook left as it was is given to the next:
// making and removing a folder costs more than the rest of starting a small hook.
#pragma once

#include <time.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::hooks {

// Mode 0700: made now, or there and ours. Errors: unavailable, naming it.
Result<void> make_private_folder(const std::string& path);
// With all that is in it, also folders that their owner has closed. What cannot be removed is told
// to the log.
void remove_private_folder(const std::string& path);

class HookHomes {
 public:
  // Homes are made below the last of `parents`, which the owner removes at the end. They and
  // KW_WORKDIR are made again where something else has taken them away.
  HookHomes(std::vector<std::string> parents, std::string work_dir)
      : parents_(std::move(parents)), work_dir_(std::move(work_dir)) {}
  // Empty, mode 0700, nobody else's until it is given back. Errors: unavailable, naming the folder.
  Result<std::string> take();
  void give_back(const std::string& home);

 private:
  void forget(const std::string& home);

  std::vector<std::string> parents_;
  std::string work_dir_;
  std::vector<std::string> free_;
  std::map<std::string, timespec> made_;  // and when they were last as they should be
  std::size_t count_ = 0;
};

}  // namespace kubewatch::hooks
