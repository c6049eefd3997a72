#include "cli/find_program.hpp"

#include <cstdlib>

#include "base/find_program.hpp"

namespace kubewatch::cli {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  return base::find_program(name, path == nullptr ? "/usr/bin:/bin" : path);
}

}  // namespace kubewatch::cli
