// A two-way multimap of object keys.
#include "runtime/relation_index.hpp"

namespace kubewatch::runtime {

void RelationIndex::set(const core::ObjectKey& source,
                        const std::vector<core::ObjectKey>& targets) {
  if (auto it = targets_.find(source); it != targets_.end()) {
    for (const core::ObjectKey& target : it->second) {
      auto back = sources_.find(target);
      if (back == sources_.end()) continue;
      back->second.erase(source);
      if (back->second.empty()) sources_.erase(back);
    }
    targets_.erase(it);
  }
  if (targets.empty()) return;
  for (const core::ObjectKey& target : targets) sources_[target].insert(source);
  targets_[source].insert(targets.begin(), targets.end());
}

std::vector<core::ObjectKey> RelationIndex::targets_of(const core::ObjectKey& source) const {
  auto it = targets_.find(source);
  if (it == targets_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

std::vector<core::ObjectKey> RelationIndex::sources_of(const core::ObjectKey& target) const {
  auto it = sources_.find(target);
  if (it == sources_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

}  // namespace kubewatch::runtime
