// Waiting for caches to show our own writes.
#include "hooks/expected_writes.hpp"

#include <algorithm>

#include "core/resource_version.hpp"

namespace kubewatch::hooks {

// An object that is not there has come and gone once the cache has passed the write. Of what was
// deleted no version is known; what its finalizers still hold is shown as dying.
bool ExpectedWrite::is_shown(const std::vector<CacheView>& views) const {
  return std::all_of(views.begin(), views.end(), [this](const CacheView& view) {
    if (resource_version.empty()) {
      return !view.object || view.object->uid != uid || view.object->deleting();
    }
    return (view.object &&
            core::at_least_version(view.object->resource_version, resource_version)) ||
           core::at_least_version(view.up_to, resource_version);
  });
}

void ExpectedWrites::expect(const std::string& owner_uid, const core::ObjectKey& owner,
                            ExpectedWrite write, TimePoint now) {
  const ChildId id = write.id;
  const bool fresh = open_[id].insert_or_assign(owner_uid, Entry{std::move(write), now}).second;
  Owner& of = owners_[owner_uid];
  of.key = owner;
  of.last = now;
  if (fresh) ++of.open;
}

bool ExpectedWrites::is_reached(const ChildId& id, const std::string& resource_version) const {
  const auto it = open_.find(id);
  if (it == open_.end()) return false;
  return std::any_of(it->second.begin(), it->second.end(), [&](const auto& one) {
    const std::string& wanted = one.second.write.resource_version;
    return !wanted.empty() && core::at_least_version(resource_version, wanted);
  });
}

std::optional<core::ObjectKey> ExpectedWrites::end_one(const std::string& owner_uid) {
  const auto it = owners_.find(owner_uid);
  if (--it->second.open > 0) return std::nullopt;
  return owners_.extract(it).mapped().key;
}

void ExpectedWrites::settle(PerOwner& of, const Views& views, std::vector<core::ObjectKey>& freed) {
  for (auto it = of.begin(); it != of.end();) {
    if (!it->second.write.is_shown(views(it->second.write))) {
      ++it;
      continue;
    }
    if (auto owner = end_one(it->first)) freed.push_back(*std::move(owner));
    it = of.erase(it);
  }
}

std::vector<core::ObjectKey> ExpectedWrites::settle(const ChildId& id, const Views& views) {
  std::vector<core::ObjectKey> freed;
  const auto it = open_.find(id);
  if (it == open_.end()) return freed;
  settle(it->second, views, freed);
  if (it->second.empty()) open_.erase(it);
  return freed;
}

std::vector<core::ObjectKey> ExpectedWrites::settle(const Views& views) {
  std::vector<core::ObjectKey> freed;
  for (auto it = open_.begin(); it != open_.end();) {
    settle(it->second, views, freed);
    it = it->second.empty() ? open_.erase(it) : std::next(it);
  }
  return freed;
}

std::vector<ExpectedWrites::Missed> ExpectedWrites::expire(TimePoint now) {
  std::vector<Missed> missed;
  for (auto it = open_.begin(); it != open_.end();) {
    PerOwner& of = it->second;
    for (auto entry = of.begin(); entry != of.end();) {
      if (now - entry->second.since < patience_) {
        ++entry;
        continue;
      }
      missed.push_back({owners_.at(entry->first).key, entry->first, it->first});
      end_one(entry->first);
      entry = of.erase(entry);
    }
    it = of.empty() ? open_.erase(it) : std::next(it);
  }
  return missed;
}

std::optional<TimePoint> ExpectedWrites::until(const std::string& owner_uid) const {
  const auto it = owners_.find(owner_uid);
  if (it == owners_.end()) return std::nullopt;
  return it->second.last + patience_;
}

std::optional<ChildId> ExpectedWrites::first_of(const std::string& owner_uid) const {
  const auto it = std::find_if(open_.begin(), open_.end(),
                               [&](const auto& one) { return one.second.count(owner_uid) > 0; });
  return it == open_.end() ? std::nullopt : std::optional(it->first);
}

}  // namespace kubewatch::hooks
