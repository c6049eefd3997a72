#include "hooks/patch_memory.hpp"

namespace kubewatch::hooks {

void PatchMemory::end(const std::string& owner_uid, const ChildId& id,
                      const std::string& resource_version) {
  const auto open = open_.find({id, owner_uid});
  if (open != open_.end() && --open->second == 0) open_.erase(open);
  left(owner_uid, id, resource_version);
}

void PatchMemory::left(const std::string& owner_uid, const ChildId& id,
                       const std::string& resource_version) {
  if (resource_version.empty()) return;
  const auto [it, fresh] = left_.insert_or_assign(State{id, resource_version}, owner_uid);
  if (!fresh) return;
  order_.push_back(it->first);
  if (order_.size() <= most_) return;
  left_.erase(order_.front());
  order_.pop_front();
}

const std::string* PatchMemory::left_by(const ChildId& id,
                                        const std::string& resource_version) const {
  const auto found = left_.find({id, resource_version});
  return found == left_.end() ? nullptr : &found->second;
}

std::vector<std::string> PatchMemory::patching(const ChildId& id) const {
  std::vector<std::string> out;
  for (auto it = open_.lower_bound({id, ""}); it != open_.end() && it->first.first == id; ++it) {
    out.push_back(it->first.second);
  }
  return out;
}

void PatchMemory::forget_versions() {
  left_.clear();
  order_.clear();
}

}  // namespace kubewatch::hooks
