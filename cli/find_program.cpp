#include "cli/find_program.hpp"

#include "base/find_program.hpp"

namespace kubewatch::cli {

std::string find_program(const std::string& name) {
  return base::find_program(name, base::search_path());
}

}  // namespace kubewatch::cli
