// The private folder of one engine: credentials for its hooks and the files of their runs. It goes
// with its owner; what a process left that was killed is removed by the next one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::hooks {

class WorkFolder {
 public:
  WorkFolder() = default;
  // Below `base`, of mode 0700, locked while this lives. First removes folders like it that are
  // ours and that nobody holds any more. Errors: unavailable.
  static Result<WorkFolder> make(const std::string& base);
  ~WorkFolder() { remove(); }
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&& other) noexcept;

  const std::string& path() const { return path_; }

 private:
  void remove();

  std::string path_;  // "" = none
  loop::Fd lock_;
};

// TMPDIR, or /tmp.
std::string temporary_base();

}  // namespace kubewatch::hooks
