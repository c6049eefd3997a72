#include "runtime/change_feed.hpp"

#include <utility>

namespace kubewatch::runtime {

// The queue points at the keys in entries_, which do not move.
ChangeFeed::Entry& ChangeFeed::enqueue(const core::ObjectKey& key) {
  const auto [it, fresh] = entries_.try_emplace(key);
  if (fresh) {
    it->second.place = next_place_++;
    queue_.emplace(it->second.place, &it->first);
  }
  return it->second;
}

void ChangeFeed::erase(Entries::iterator entry) {
  queue_.erase(entry->second.place);
  entries_.erase(entry);
}

void ChangeFeed::begin(const std::vector<core::ObjectKey>& present) {
  for (const auto& key : present) enqueue(key).initial = true;
  note_synced(false);
}

void ChangeFeed::note(const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  const auto it = entries_.find(key);
  if (change.type == ChangeType::deleted) {
    if (it != entries_.end() && !it->second.known) return erase(it);  // came and went unseen
    const bool fresh = it == entries_.end();
    Entry& entry = enqueue(key);
    entry.relisted = entry.relisted || change.relisted;
    if (fresh) entry.known = change.meta.uid;
    if (*entry.known != change.meta.uid || entry.last_size > 0) return;
    const Encoded encoded = codec_.compress(change.json);
    entry.last.assign(encoded.bytes);
    entry.last_encoding = encoded.encoding;
    entry.last_reduced = change.reduced;
    entry.last_size = change.json.size();
    return;
  }
  if (it != entries_.end()) return;  // it will be told what is newest then
  Entry& entry = enqueue(key);
  entry.initial = change.initial;
  entry.relisted = change.relisted;
  if (change.type == ChangeType::modified) entry.known = change.meta.uid;
}

void ChangeFeed::note_synced(bool gap) {
  // One marker, behind all that is to be told by now.
  if (marker_) queue_.erase(*marker_);
  marker_ = next_place_++;
  marker_gap_ = (marker_gap_ || gap) && synced_before_;
  queue_.emplace(*marker_, nullptr);
}

StoreChange ChangeFeed::deleted(const core::ObjectKey& key, Entry& entry) const {
  StoreChange change;
  change.type = ChangeType::deleted;
  change.relisted = entry.relisted;
  change.reduced = entry.last_reduced;
  change.json = codec_.decompress(entry.last_encoding, entry.last, entry.last_size);
  if (auto meta = core::parse_kept_meta(change.json); meta.ok()) {
    change.meta = std::move(*meta);
  } else {
    change.meta.name = key.name;
    change.meta.namespace_ = key.namespace_;
    change.meta.uid = *entry.known;
  }
  entry.known.reset();
  entry.last.clear();
  entry.last_size = 0;
  return change;
}

std::optional<FeedItem> ChangeFeed::next(const StateOf& state_of) {
  while (!queue_.empty()) {
    const core::ObjectKey* const first = queue_.begin()->second;
    if (first == nullptr) {
      queue_.erase(queue_.begin());
      marker_.reset();
      synced_before_ = true;
      return FeedSynced{std::exchange(marker_gap_, false)};
    }
    const auto it = entries_.find(*first);
    Entry& entry = it->second;
    auto now = state_of(it->first);
    if (entry.known && (!now || now->meta.uid != *entry.known)) {
      StoreChange change = deleted(it->first, entry);
      if (!now) erase(it);  // else it stays first, to be told as added
      return change;
    }
    if (!now) {
      erase(it);
      continue;
    }
    StoreChange change;
    change.type = entry.known ? ChangeType::modified : ChangeType::added;
    change.initial = entry.initial && !entry.known;
    change.relisted = entry.relisted;
    change.meta = std::move(now->meta);
    change.json = std::move(now->json);
    change.reduced = now->reduced;
    erase(it);
    return change;
  }
  return std::nullopt;
}

}  // namespace kubewatch::runtime
