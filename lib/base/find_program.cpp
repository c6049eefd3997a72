#include "base/find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/strings.hpp"

namespace kubewatch::base {

std::string find_program(const std::string& name, std::string_view path) {
  for (const auto& folder : split(path, ':')) {
    if (!folder.starts_with('/')) continue;
    std::string full = folder + "/" + name;
    std::error_code none;
    if (std::filesystem::is_regular_file(full, none) && ::access(full.c_str(), X_OK) == 0) {
      return full;
    }
  }
  return "";
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? std::string(kDefaultPath) : path;
}

}  // namespace kubewatch::base
