#include "cli/help/option_type.hpp"

#include <CLI/CLI.hpp>

#include "base/strings.hpp"

namespace kubewatch::cli {

std::string argument_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return base::split(type.substr(open + 1, close - open - 1), ',');
}

}  // namespace kubewatch::cli
