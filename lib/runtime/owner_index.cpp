// From owner references to keys.
#include "runtime/owner_index.hpp"

#include <algorithm>

namespace kubewatch::runtime {
namespace {

bool refers_to_kind(const core::OwnerReference& reference, const OwnerMatch& match) {
  if (reference.kind != match.owner.kind) return false;
  const auto version = core::parse_group_version(reference.api_version);
  return version.ok() && version->group == match.owner.group;
}

void collect(const core::ObjectMeta& child, bool by_name, const OwnerMatch& match,
             const OwnerIndex& index, std::vector<core::ObjectKey>& out) {
  for (const core::OwnerReference& reference : child.owners) {
    if (match.references == OwnerKind::controller && !reference.controller) continue;
    if (!refers_to_kind(reference, match)) continue;
    // An owner is in its child's namespace, or in none.
    const core::ObjectKey named{match.namespaced ? child.namespace_ : "", reference.name};
    const core::ObjectKey* known = index.find(reference.uid);
    if (by_name || (known != nullptr && *known == named)) out.push_back(named);
  }
}

}  // namespace

void OwnerIndex::remove(const std::string& uid, const core::ObjectKey& key) {
  const auto it = keys_.find(uid);
  if (it != keys_.end() && it->second == key) keys_.erase(it);
}

const core::ObjectKey* OwnerIndex::find(const std::string& uid) const {
  const auto it = keys_.find(uid);
  return it == keys_.end() ? nullptr : &it->second;
}

std::vector<core::ObjectKey> owners_of(const StoreChange& change, const OwnerMatch& match,
                                       const OwnerIndex& index) {
  std::vector<core::ObjectKey> keys;
  collect(change.meta, change.type == ChangeType::deleted, match, index, keys);
  if (change.previous_meta) collect(*change.previous_meta, false, match, index, keys);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace kubewatch::runtime
