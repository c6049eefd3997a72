// The private HOME folders of a rule's hooks. One that a hook left as it was is given to the next:
// making and removing a folder costs more than the rest of starting a small hook.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kubewatch::hooks {

class HookHomes {
 public:
  // Folders are made below `parent`, which the owner removes at the end.
  explicit HookHomes(std::string parent) : parent_(std::move(parent)) {}
  // Empty, mode 0700, nobody else's until it is given back. Where it cannot be made the hook finds
  // no HOME, as the log says.
  std::string take();
  void give_back(const std::string& home);

 private:
  std::string parent_;
  std::vector<std::string> free_;
  std::size_t made_ = 0;
};

}  // namespace kubewatch::hooks
