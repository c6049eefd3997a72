#include "hooks/patched_finalizers.hpp"

#include <utility>

#include "core/resource_version.hpp"

namespace kubewatch::hooks {

bool PatchedFinalizers::note(const core::ObjectMeta& shown, std::string resource_version,
                             bool dying, TimePoint now) {
  const bool added = !dying && !shown.has_finalizer(finalizer_);
  Patched patched{shown.uid, std::move(resource_version), now, dying, added};
  if (!is_before(shown, patched)) return false;
  forget(shown.key());
  added_ += added ? 1 : 0;
  patched_.emplace(shown.key(), std::move(patched));
  return true;
}

PatchedFinalizers::Shown PatchedFinalizers::look(const core::ObjectMeta& shown, TimePoint now) {
  const auto it = patched_.find(shown.key());
  if (it == patched_.end()) return Shown::yes;
  const Patched& patched = it->second;
  if (patched.uid == shown.uid && is_before(shown, patched)) {
    if (now - patched.since < kPatience) return Shown::not_yet;
    if (patched.dying) return Shown::overdue;
  }
  erase(it);
  return Shown::yes;
}

void PatchedFinalizers::forget(const core::ObjectKey& key) {
  if (const auto it = patched_.find(key); it != patched_.end()) erase(it);
}

void PatchedFinalizers::keep_dying(const std::function<bool(const core::ObjectKey&)>& is_there) {
  std::erase_if(patched_,
                [&](const auto& one) { return !one.second.dying || !is_there(one.first); });
  added_ = 0;  // a dying object gets none
}

void PatchedFinalizers::clear() {
  patched_.clear();
  added_ = 0;
}

void PatchedFinalizers::erase(ByKey::iterator it) {
  added_ -= it->second.added ? 1 : 0;
  patched_.erase(it);
}

// A dying object never gets a finalizer back. The answer to the patch that takes off its last one
// may have the version before.
bool PatchedFinalizers::is_before(const core::ObjectMeta& shown, const Patched& patched) const {
  return !core::at_least_version(shown.resource_version, patched.resource_version) ||
         (patched.dying && shown.has_finalizer(finalizer_));
}

}  // namespace kubewatch::hooks
