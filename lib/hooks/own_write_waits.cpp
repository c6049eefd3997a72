// Runs that wait for the caches to show what was written before them.
#include "hooks/own_write_waits.hpp"

#include <utility>

namespace kubewatch::hooks {

void OwnWriteWaits::expect(const std::string& owner_uid, const core::ObjectKey& owner,
                           ExpectedWrite write, const Views& views, TimePoint now) {
  if (write.is_shown(views(write))) return;
  expected_.expect(owner_uid, owner, std::move(write), now);
}

std::vector<core::ObjectKey> OwnWriteWaits::give_up(TimePoint now) {
  std::vector<core::ObjectKey> owners;
  for (ExpectedWrites::Missed& missed : expected_.expire(now)) {
    const auto it = waiting_.find(missed.owner);
    if (it == waiting_.end() || it->second.uid != missed.owner_uid) continue;
    it->second.missed = missed.id.str();
    owners.push_back(std::move(missed.owner));
  }
  return end_waits(std::move(owners));
}

std::vector<core::ObjectKey> OwnWriteWaits::clear() {
  expected_ = ExpectedWrites{};
  std::vector<core::ObjectKey> owners;
  for (const auto& [key, waiting] : waiting_) owners.push_back(key);
  return end_waits(std::move(owners));
}

// What a run has to be told of that starts without something stays until it does.
std::vector<core::ObjectKey> OwnWriteWaits::end_waits(std::vector<core::ObjectKey> freed) {
  std::erase_if(freed, [this](const core::ObjectKey& key) {
    const auto it = waiting_.find(key);
    if (it == waiting_.end() || expected_.until(it->second.uid)) return true;
    if (it->second.missed.empty()) waiting_.erase(it);
    return false;
  });
  return freed;
}

bool OwnWriteWaits::is_overdue(const std::string& uid, TimePoint now) const {
  const auto until = expected_.until(uid);
  return until && *until <= now;
}

std::optional<TimePoint> OwnWriteWaits::wait(const core::ObjectKey& key, const std::string& uid) {
  const auto until = expected_.until(uid);
  if (until) waiting_[key] = {uid, ""};
  return until;
}

std::string OwnWriteWaits::start(const core::ObjectKey& key) {
  if (waiting_.empty()) return "";
  auto node = waiting_.extract(key);
  return node.empty() ? "" : std::move(node.mapped().missed);
}

std::optional<ChildId> OwnWriteWaits::first_of(const core::ObjectKey& key) const {
  const auto it = waiting_.find(key);
  return it == waiting_.end() ? std::nullopt : expected_.first_of(it->second.uid);
}

void OwnWriteWaits::take_over(ExpectedWrites left, const Views& views) {
  expected_ = std::move(left);
  expected_.settle(views);
}

}  // namespace kubewatch::hooks
