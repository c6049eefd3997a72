// Remembered writes.
#include "hooks/child_memory.hpp"

#include <algorithm>
#include <functional>

namespace kubewatch::hooks {

void ChildMemory::wake(PerOwner& owner) {
  if (owner.resting) resting_.erase(*owner.resting);
  owner.resting.reset();
}

void ChildMemory::begin_run(const std::string& owner_uid) {
  wake(owners_[owner_uid]);
}

void ChildMemory::end_run(const std::string& owner_uid, bool gone) {
  if (gone) return forget(owner_uid);
  const auto it = owners_.find(owner_uid);
  if (it == owners_.end()) return;
  wake(it->second);
  // Nobody else knows that its children are to stay; it is there no longer than its deletion takes.
  if (it->second.orphaning == Orphaning::yes || it->second.orphaning == Orphaning::unsure) return;
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
  owners_.erase(it);
}

void ChildMemory::remember(const std::string& owner_uid, const ChildId& id, KnownChild child) {
  owners_[owner_uid].children[id] = std::move(child);
}

void ChildMemory::note_guess(const std::string& owner_uid, const ChildId& id,
                             const core::ResourceType& type) {
  owners_[owner_uid].children.try_emplace(id, KnownChild{type, 0, "", true});
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
  return known != nullptr && known->resource_version == resource_version;
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

void ChildMemory::note_dying(const core::ObjectMeta& owner, bool begins) {
  if (!owner.deleting()) return;
  if (dies_orphaning(owner) || begins) {
    owners_[owner.uid].orphaning = dies_orphaning(owner) ? Orphaning::yes : Orphaning::no;
    return;
  }
  const Orphaning before = orphaning(owner.uid);
  if (before == Orphaning::unknown || before == Orphaning::no) return;
  owners_[owner.uid].orphaning = dies_in_foreground(owner) ? Orphaning::unknown : Orphaning::unsure;
}

ChildMemory::Orphaning ChildMemory::orphaning(const std::string& owner_uid) const {
  const auto it = owners_.find(owner_uid);
  return it == owners_.end() ? Orphaning::unknown : it->second.orphaning;
}

bool ChildMemory::is_listed(const std::string& owner_uid, bool all, bool referring_too) const {
  const auto it = owners_.find(owner_uid);
  return it != owners_.end() &&
         std::ranges::any_of(it->second.listed, [&](const PerOwner::Listed& one) {
           return (one.all || !all) && (one.referring_too || !referring_too);
         });
}

void ChildMemory::set_listed(const std::string& owner_uid, bool all, bool referring_too) {
  if (is_listed(owner_uid, all, referring_too)) return;
  owners_[owner_uid].listed.push_back({all, referring_too});
}

void ChildMemory::forget_versions() {
  for (auto& [uid, owner] : owners_) {
    for (auto& [id, child] : owner.children) child.resource_version.clear();
    owner.status.resource_version.clear();
    owner.status.written_version.clear();
  }
  patches_.forget_versions();
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
