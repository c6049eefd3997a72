#include "hooks/rule_place.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/yaml_document.hpp"

namespace kubewatch::hooks {

std::string place_in_rule(const std::string& file, const std::string& controller,
                          const std::string& pointer) {
  constexpr std::size_t kMaxFile = 1U << 20U;
  const auto text = base::read_file(file, kMaxFile);
  if (!text.ok()) return file;
  const auto documents = base::parse_yaml(*text);
  if (!documents.ok()) return file;
  for (const base::YamlDocument& document : *documents) {
    if (base::string_at(document.value, {"metadata", "name"}) != controller) continue;
    return fmt::format("{}:{}", file, document.marks.value_at(pointer).line);
  }
  return file;
}

}  // namespace kubewatch::hooks
