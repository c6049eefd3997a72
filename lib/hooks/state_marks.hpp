// What a run of a rule depends on beyond its objects: the programs and files that its hooks name,
// and what they inherit. Files are read again only when their size, time or inode changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hooks/rule.hpp"
#include "hooks/state_store.hpp"

namespace kubewatch::hooks {

// Absolute paths: of reconcile and finalize the program, arguments that are files, and files of
// env.
std::vector<std::string> hook_files_of(const Rule& rule);

class HookFiles {
 public:
  // Differs when the content of any of them does. Holds values as they are: only to be hashed.
  std::string mark(const Rule& rule, const StateStore& state);

 private:
  struct Known {
    std::string stamp;
    std::string hash;
  };
  std::map<std::string, Known> known_;
};

}  // namespace kubewatch::hooks
