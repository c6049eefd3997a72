// The lists that hooks with `lists: files` are given: memory that nobody can change any more, with
// a path by which hooks open it as long as somebody holds it. No file of a disk: objects may be
// secret.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/keyed_hash.hpp"
#include "base/result.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::hooks {

struct ListFile {
  loop::Fd memory;
  std::string path;
};
using ListFilePtr = std::shared_ptr<const ListFile>;

class ListFiles {
 public:
  ListFiles();
  // A JSON array, one object on each line. Who holds an equal list already shares its file. Errors:
  // unavailable (no memory, no descriptors, or the kernel keeps hooks from opening what is ours).
  Result<ListFilePtr> of(const std::vector<std::string>& objects);

 private:
  base::KeyedHash hash_;
  std::map<std::string, std::weak_ptr<const ListFile>> open_;  // by what is in them
};

}  // namespace kubewatch::hooks
