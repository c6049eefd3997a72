#include "hooks/untold_deletions.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {

void UntoldDeletions::note(Deleted deleted, TimePoint now) {
  forget_old(now);
  bytes_ += deleted.last.json.size();
  noted_.push_back({std::move(deleted), now});
  if (noted_.size() > kMostObjects) drop_oldest();
  // The run is owed, its `previous` is not.
  for (; bytes_ > kMostBytes && bare_ < noted_.size(); ++bare_) {
    bytes_ -= noted_[bare_].deleted.last.json.size();
    std::string().swap(noted_[bare_].deleted.last.json);
  }
}

void UntoldDeletions::told(const core::ObjectKey& key, const std::string& uid) {
  const auto is_it = [&](const Noted& noted) {
    return noted.deleted.last.meta.uid == uid && noted.deleted.last.meta.key() == key;
  };
  const auto it = std::find_if(noted_.begin(), noted_.end(), is_it);
  if (it == noted_.end()) return;
  bytes_ -= it->deleted.last.json.size();
  if (static_cast<std::size_t>(it - noted_.begin()) < bare_) --bare_;
  noted_.erase(it);
}

std::vector<Deleted> UntoldDeletions::take(const std::function<bool(const core::ObjectKey&)>& mine,
                                           TimePoint now) {
  forget_old(now);
  std::vector<Deleted> out;
  std::deque<Noted> rest;
  std::size_t bare = 0;
  for (std::size_t i = 0; i < noted_.size(); ++i) {
    Noted& noted = noted_[i];
    if (mine(noted.deleted.last.meta.key())) {
      bytes_ -= noted.deleted.last.json.size();
      out.push_back(std::move(noted.deleted));
      continue;
    }
    if (i < bare_) ++bare;
    rest.push_back(std::move(noted));
  }
  noted_ = std::move(rest);
  bare_ = bare;
  return out;
}

void UntoldDeletions::forget_old(TimePoint now) {
  while (!noted_.empty() && now - noted_.front().at > kept_) drop_oldest();
}

void UntoldDeletions::drop_oldest() {
  bytes_ -= noted_.front().deleted.last.json.size();
  if (bare_ > 0) --bare_;
  noted_.pop_front();
}

}  // namespace kubewatch::hooks
