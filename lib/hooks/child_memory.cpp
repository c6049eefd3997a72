// Remembered writes.
#include "hooks/child_memory.hpp"

#include <functional>

namespace kubewatch::hooks {

void ChildMemory::wake(PerOwner& owner) {
  if (owner.resting) resting_.erase(*owner.resting);
  owner.resting.reset();
}

void ChildMemory::forget_patches(const std::string& owner_uid, PerOwner& owner) {
  for (const ChildId& id : owner.patched) {
    const auto found = patched_.find(id);
    if (found != patched_.end() && found->second.owner_uid == owner_uid) patched_.erase(found);
  }
  owner.patched.clear();
}

void ChildMemory::begin_run(const std::string& owner_uid) {
  PerOwner& owner = owners_[owner_uid];
  wake(owner);
  forget_patches(owner_uid, owner);
}

void ChildMemory::end_run(const std::string& owner_uid, bool gone) {
  if (gone) return forget(owner_uid);
  const auto it = owners_.find(owner_uid);
  if (it == owners_.end()) return;
  wake(it->second);
  it->second.resting = resting_.insert(resting_.end(), owner_uid);
  while (owners_.size() > max_owners_ && !resting_.empty()) {
    const std::string oldest = resting_.front();
    forget(oldest);
  }
}

void ChildMemory::forget(const std::string& owner_uid) {
  const auto it = owners_.find(owner_uid);
  if (it == owners_.end()) return;
  wake(it->second);
  forget_patches(owner_uid, it->second);
  owners_.erase(it);
}

void ChildMemory::remember(const std::string& owner_uid, const ChildId& id, KnownChild child) {
  owners_[owner_uid].children[id] = std::move(child);
}

const KnownChild* ChildMemory::find(const std::string& owner_uid, const ChildId& id) const {
  const auto& known = children(owner_uid);
  auto it = known.find(id);
  return it == known.end() ? nullptr : &it->second;
}

void ChildMemory::forget_child(const std::string& owner_uid, const ChildId& id) {
  if (auto it = owners_.find(owner_uid); it != owners_.end()) it->second.children.erase(id);
}

const std::map<ChildId, KnownChild>& ChildMemory::children(const std::string& owner_uid) const {
  static const std::map<ChildId, KnownChild> none;
  auto it = owners_.find(owner_uid);
  return it == owners_.end() ? none : it->second.children;
}

bool ChildMemory::wrote(const std::string& owner_uid, const ChildId& id,
                        const std::string& resource_version) const {
  const auto claim = claims_.find(id);
  if (claim != claims_.end() && claim->second == owner_uid) return true;
  const KnownChild* known = find(owner_uid, id);
  if (known != nullptr && known->resource_version == resource_version) return true;
  const std::string* patcher = patched_by(id, resource_version);
  return patcher != nullptr && *patcher == owner_uid;
}

bool ChildMemory::wrote_status(const std::string& owner_uid,
                               const std::string& resource_version) const {
  const auto it = owners_.find(owner_uid);
  if (it == owners_.end()) return false;
  return it->second.writing_status || it->second.status.written_version == resource_version;
}

void ChildMemory::end_status(const std::string& owner_uid) {
  if (auto it = owners_.find(owner_uid); it != owners_.end()) it->second.writing_status = false;
}

void ChildMemory::begin_patch(const std::string& owner_uid, const ChildId& id) {
  patched_[id] = {owner_uid, ""};
  owners_[owner_uid].patched.push_back(id);
}

void ChildMemory::end_patch(const std::string& owner_uid, const ChildId& id,
                            const std::string& resource_version) {
  const auto found = patched_.find(id);
  if (found == patched_.end() || found->second.owner_uid != owner_uid) return;
  if (resource_version.empty()) {
    patched_.erase(found);
  } else {
    found->second.resource_version = resource_version;
  }
}

const std::string* ChildMemory::patched_by(const ChildId& id,
                                           const std::string& resource_version) const {
  const auto found = patched_.find(id);
  if (found == patched_.end()) return nullptr;
  const std::string& left_at = found->second.resource_version;
  return left_at.empty() || left_at == resource_version ? &found->second.owner_uid : nullptr;
}

bool ChildMemory::is_listed(const std::string& owner_uid) const {
  auto it = owners_.find(owner_uid);
  return it != owners_.end() && it->second.listed;
}

void ChildMemory::set_listed(const std::string& owner_uid) {
  owners_[owner_uid].listed = true;
}

void ChildMemory::forget_versions() {
  for (auto& [uid, owner] : owners_) {
    for (auto& [id, child] : owner.children) child.resource_version.clear();
    owner.status.resource_version.clear();
    owner.status.written_version.clear();
    owner.patched.clear();
  }
  patched_.clear();
}

bool ChildMemory::claim(const ChildId& id, const std::string& owner_uid) {
  return claims_.try_emplace(id, owner_uid).first->second == owner_uid;
}

void ChildMemory::release(const ChildId& id, const std::string& owner_uid) {
  auto it = claims_.find(id);
  if (it != claims_.end() && it->second == owner_uid) claims_.erase(it);
}

std::uint64_t text_hash(const std::string& text) {
  const std::uint64_t hash = std::hash<std::string>{}(text);
  return hash == 0 ? 1 : hash;
}

}  // namespace kubewatch::hooks
