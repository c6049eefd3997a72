#include "hooks/close_kind.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostNamed = 3;

}  // namespace

std::string close_kind(const std::vector<core::ResourceType>& all, const core::Gvk& wanted) {
  const std::string kind = base::to_lower(wanted.kind);
  std::vector<std::string> same_group;
  std::vector<std::string> others;
  for (const core::ResourceType& type : all) {
    if (base::to_lower(type.gvk.kind) != kind) continue;
    auto& names = type.gvk.group == wanted.group ? same_group : others;
    const std::string name = type.gvk.str();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  auto& names = same_group.empty() ? others : same_group;
  if (names.size() > kMostNamed) names.resize(kMostNamed);
  return base::join(names, " or ");
}

}  // namespace kubewatch::hooks
