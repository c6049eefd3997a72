#include "hooks/kind_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {
namespace {

// Several resources of a group may be of one kind.
bool is_served(const client::ResourceMap& resources, const core::ResourceType& type) {
  const auto& all = resources.all();
  return std::any_of(all.begin(), all.end(), [&](const core::ResourceType& other) {
    return other.gvk == type.gvk && other.plural == type.plural &&
           other.namespaced == type.namespaced;
  });
}

// As what it is served instead; null: it is served as it was, it is missing, or nobody knows.
const core::ResourceType* served_instead(const client::ResourceMap& resources,
                                         const core::ResourceType& type) {
  const core::Gvk& gvk = type.gvk;
  if (resources.did_not_answer(gvk) || is_served(resources, type)) return nullptr;
  const auto* same_version = resources.find(gvk);
  return same_version != nullptr ? same_version : resources.find_kind(gvk.group, gvk.kind);
}

}  // namespace

std::optional<KindChanges::Change> KindChanges::look(const std::vector<core::ResourceType>& types,
                                                     const client::ResourceMap& resources) {
  const auto before = std::exchange(doubted_, {});
  std::optional<Change> out;
  for (const core::ResourceType& type : types) {
    const auto* now = served_instead(resources, type);
    if (now == nullptr) continue;
    doubted_.insert(type.gvk);
    if (!out && before.contains(type.gvk)) out = Change{type, *now};
  }
  return out;
}

std::string describe(const core::ResourceType& type) {
  return fmt::format("{} ({}, {})", type.gvk.str(), type.plural,
                     type.namespaced ? "namespaced" : "cluster-scoped");
}

}  // namespace kubewatch::hooks
