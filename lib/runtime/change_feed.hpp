// What one subscriber of a store has yet to be told: at most one entry per object, however slow it
// is and however often objects change. It is told the newest state when it comes for it, never a
// state in between; a deletion with the last known state; a name that came back with another uid
// as deleted, then added. Plain class, no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/store.hpp"
#include "runtime/store_codec.hpp"

namespace kubewatch::runtime {

// Everything that was there at the last full state has been told. gap: it was not the first, so
// states in between may have been missed by the cache itself.
struct FeedSynced {
  bool gap = false;
};
// The change carries no previous state: what the subscriber was told last is its own to keep.
using FeedItem = std::variant<StoreChange, FeedSynced>;

class ChangeFeed {
 public:
  // The newest state of an object; absent when there is none.
  using StateOf = std::function<std::optional<StoredObject>(const core::ObjectKey&)>;

  // A subscriber that comes late: it is told what is there as added and initial, then synced. Once,
  // before anything else; not needed where the store is not ready yet.
  void begin(const std::vector<core::ObjectKey>& present);
  // Each change of the store, in order, as the store tells it.
  void note(const StoreChange& change);
  // After the changes of a full state.
  void note_synced(bool gap);

  // The next thing to tell, absent when all is told. Not from inside of a store's ChangeSink.
  std::optional<FeedItem> next(const StateOf& state_of);
  // Objects with something to tell.
  std::size_t pending() const { return entries_.size(); }
  bool empty() const { return queue_.empty(); }

 private:
  struct KeyHash {
    std::size_t operator()(const core::ObjectKey& key) const {
      const std::hash<std::string> hash;
      return hash(key.name) * 0x9e3779b97f4a7c15U + hash(key.namespace_);
    }
  };
  struct Entry {
    std::uint64_t place = 0;
    std::optional<std::string> known;  // the uid that the subscriber knows under this key
    bool initial = false;
    bool relisted = false;
    // Of the known object, once it is gone; compressed.
    std::string last;
    Encoding last_encoding = kPlain;
    bool last_reduced = false;
    std::size_t last_size = 0;
  };
  using Entries = std::unordered_map<core::ObjectKey, Entry, KeyHash>;

  Entry& enqueue(const core::ObjectKey& key);
  void erase(Entries::iterator entry);
  StoreChange deleted(const core::ObjectKey& key, Entry& entry) const;

  Entries entries_;
  std::map<std::uint64_t, const core::ObjectKey*> queue_;  // null: the synced marker
  std::uint64_t next_place_ = 0;
  std::optional<std::uint64_t> marker_;
  bool marker_gap_ = false;
  bool synced_before_ = false;
  StoreCodec codec_;
};

}  // namespace kubewatch::runtime
