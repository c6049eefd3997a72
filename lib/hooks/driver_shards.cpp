// Driver, the part about shards: which objects it may run, and giving them up.
#include <algorithm>

#include "hooks/driver.hpp"
#include "hooks/evaluate.hpp"
#include "runtime/shard_map.hpp"

namespace kubewatch::hooks {

std::size_t Driver::shard_of(const core::ObjectKey& key) const {
  const core::Gvk& gvk = owner_type().gvk;
  return runtime::shard_of(gvk.group, gvk.kind, key, scope_.shards);
}

bool Driver::owns(const core::ObjectKey& key) const {
  return scope_.shards == 0 || led_.count(shard_of(key)) > 0;
}

bool Driver::leads(core::ObjectKey key) const {
  if (!owner_type().namespaced) key.namespace_.clear();
  return owns(key);
}

// Longer than a watch that brings nothing is believed: after it our caches show what the leader
// before has made.
bool Driver::may_follow_another(const Owner& owner) const {
  const auto is_new = [this](TimePoint since) {
    return services_.loop.now() - since < KeyNotes::kLongestWay;
  };
  if (scope_.only) return is_new(made_);
  if (scope_.shards == 0) return false;
  const auto led = led_.find(shard_of(owner.key));
  return led == led_.end() || is_new(led->second);
}

void Driver::lead(std::size_t shard) {
  led_.try_emplace(shard, services_.loop.now());
  if (!started_ || stopping_) return;
  for (const core::ObjectKey& key : caches_.known_keys()) {
    if (shard_of(key) == shard) on_wake({key, runtime::Reason::startup, "", false, ""});
  }
  take_over_deletions(shard);
  services_.on_progress();
}

// Whoever led before may have told them, or not.
void Driver::take_over_deletions(std::size_t shard) {
  const auto is_of_shard = [&](const core::ObjectKey& key) { return shard_of(key) == shard; };
  for (Deleted& deleted : untold_.take(is_of_shard, services_.loop.now())) {
    const core::ObjectMeta& last = deleted.last.meta;
    if (!caches_.has_object(last.key(), last.uid)) tell_deletion(std::move(deleted));
  }
}

bool Driver::is_running(std::size_t shard) const {
  for (const auto& [key, in_doubt] : running_) {
    if (shard_of(key) == shard) return true;
  }
  return false;
}

// Another instance may write its objects next: what we remember of them is worth nothing then.
void Driver::forget_shard(std::size_t shard) {
  const auto is_of_it = [&](const core::ObjectKey& key) { return shard_of(key) == shard; };
  for (Deleted& deleted : owed_.take(is_of_it)) {
    const core::ObjectKey key = deleted.last.meta.key();
    controller_.forget(key);
    forget_key(key);
    untold_.note(std::move(deleted), services_.loop.now());
  }
  std::set<core::ObjectKey> keys = notes_.of_runs();
  for (const auto& [key, lack] : lacking_.all()) keys.insert(key);
  if (started_) {
    for (const core::ObjectKey& key : caches_.known_keys()) keys.insert(key);
  }
  for (const core::ObjectKey& key : keys) {
    if (shard_of(key) != shard) continue;
    const auto meta = caches_.object_meta(key);
    forget_key(key, meta ? meta->uid : "");
  }
}

void Driver::end_runs(std::size_t shard, std::function<void()> ended) {
  led_.erase(shard);
  forget_shard(shard);
  end_last_runs(shard, std::move(ended));
}

void Driver::end_last_runs(std::size_t shard, std::function<void()> ended) {
  led_.erase(shard);
  if (!is_running(shard)) return services_.loop.post(std::move(ended));
  ending_[shard].push_back(std::move(ended));
}

// `key` is not in running_ any more, but for a new run that has begun since.
void Driver::on_work_over(const core::ObjectKey& key) {
  if (scope_.shards == 0 || ending_.empty()) return;
  const std::size_t shard = shard_of(key);
  if (is_running(shard)) return;
  auto node = ending_.extract(shard);
  if (node.empty()) return;
  forget_shard(shard);  // the last run has remembered things
  for (auto& ended : node.mapped()) services_.loop.post(std::move(ended));
}

// What runs for an object that went to another shard is the other one's business now, and so is
// its deletion. An object that is gone, or only left the selection, has no other run anywhere.
// Asked for at once: when its own run has ended here, it may have been finalized there and be gone.
void Driver::look_at_shard(const core::ObjectMeta& last) {
  const auto runs_it = [key = last.key(), uid = last.uid](const auto& one) {
    return one.second->key() == key && one.second->uid() == uid && !one.second->of_deletion();
  };
  const bool may_be_told =
      rule_.on_delete && finalized_elsewhere(last) && finalized_.count(last.uid) == 0;
  if (!may_be_told && std::none_of(runs_.begin(), runs_.end(), runs_it)) return;
  get_live(last.key(), [this, key = last.key(), uid = last.uid, runs_it,
                        may_be_told](const Result<Json>& answer) {
    if (!answer.ok()) return;
    const core::ObjectMeta now = core::meta_of(*answer);
    if (now.uid != uid || is_of_shard(rule_.for_, now)) return;
    if (may_be_told && owed_.only_left(key, uid)) deletion_told(key);
    const auto runs = runs_;  // what ends one may end another
    for (const auto& one : runs) {
      if (runs_it(one)) one.second->abandon("the object left this shard while it ran");
    }
  });
}

}  // namespace kubewatch::hooks
