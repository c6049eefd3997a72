#include "hooks/owed_deletions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kubewatch::hooks {

void OwedDeletions::add(Deleted deleted) {
  Owed& owed = owed_[deleted.last.meta.key()];
  auto& of_name = owed.of_name;
  const bool is_known = !of_name.empty() && of_name.back().may_have_left &&
                        of_name.back().last.meta.uid == deleted.last.meta.uid;
  if (!is_known) return of_name.push_back(std::move(deleted));
  if (of_name.size() == 1) forget_failure(owed);
  of_name.back() = std::move(deleted);
}

std::size_t OwedDeletions::count(const core::ObjectKey& key) const {
  const auto found = owed_.find(key);
  return found == owed_.end() ? 0 : found->second.of_name.size();
}

const Deleted* OwedDeletions::first(const core::ObjectKey& key) const {
  const auto found = owed_.find(key);
  return found == owed_.end() ? nullptr : &found->second.of_name.front();
}

bool OwedDeletions::only_left(const core::ObjectKey& key, const std::string& uid) const {
  const Deleted* one = first(key);
  return one != nullptr && one->may_have_left && one->last.meta.uid == uid;
}

void OwedDeletions::confirm_gone(const core::ObjectKey& key) {
  if (const auto found = owed_.find(key); found != owed_.end()) {
    found->second.of_name.front().may_have_left = false;
  }
}

std::vector<core::ObjectKey> OwedDeletions::fail(const core::ObjectKey& key) {
  const auto found = owed_.find(key);
  if (found == owed_.end() || found->second.place != 0) return {};
  found->second.place = ++last_place_;
  failed_.emplace(last_place_, key);
  with_state_.insert(last_place_);
  bytes_ += found->second.of_name.front().last.json.size();
  std::vector<core::ObjectKey> bare;
  while (bytes_ > kMostBytes && with_state_.size() > 1) {
    bare.push_back(failed_.at(*with_state_.begin()));
    with_state_.erase(with_state_.begin());
    std::string& json = owed_.at(bare.back()).of_name.front().last.json;
    bytes_ -= json.size();
    std::string().swap(json);
  }
  return bare;
}

std::optional<core::ObjectKey> OwedDeletions::excess(
    const std::function<bool(const core::ObjectKey&)>& runs) const {
  if (failed_.size() <= most_failed_) return std::nullopt;
  const auto youngest = std::prev(failed_.end());
  const auto found =
      std::find_if(failed_.begin(), youngest, [&](const auto& one) { return !runs(one.second); });
  return found == youngest ? std::nullopt : std::optional(found->second);
}

std::string OwedDeletions::end_first(const core::ObjectKey& key) {
  const auto found = owed_.find(key);
  if (found == owed_.end()) return "";
  Owed& owed = found->second;
  forget_failure(owed);
  std::string uid = std::move(owed.of_name.front().last.meta.uid);
  owed.of_name.pop_front();
  if (owed.of_name.empty()) owed_.erase(found);
  return uid;
}

std::vector<Deleted> OwedDeletions::take(const std::function<bool(const core::ObjectKey&)>& mine) {
  std::vector<Deleted> out;
  for (auto it = owed_.begin(); it != owed_.end();) {
    if (!mine(it->first)) {
      ++it;
      continue;
    }
    forget_failure(it->second);
    auto& deleted = it->second.of_name;
    std::move(deleted.begin(), deleted.end(), std::back_inserter(out));
    it = owed_.erase(it);
  }
  return out;
}

void OwedDeletions::forget_failure(Owed& owed) {
  if (owed.place == 0) return;
  with_state_.erase(owed.place);
  failed_.erase(std::exchange(owed.place, 0));
  bytes_ -= owed.of_name.front().last.json.size();
}

}  // namespace kubewatch::hooks
