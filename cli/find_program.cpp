#include "cli/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/strings.hpp"

namespace kubewatch::cli {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : base::split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (!folder.starts_with('/')) continue;
    const std::string full = folder + "/" + name;
    std::error_code none;
    if (std::filesystem::is_regular_file(full, none) && ::access(full.c_str(), X_OK) == 0) {
      return full;
    }
  }
  return "";
}

}  // namespace kubewatch::cli
