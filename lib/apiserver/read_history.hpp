// The last changes of one cached kind in the order of their resourceVersions, from which watches
// start and go on: a ring that is bounded in number and bytes. Every watcher only remembers where
// it stands; who falls out of it is too slow. No I/O, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/history_limits.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

enum class ReadEventType { added, modified, deleted };
const char* to_string(ReadEventType type);  // "ADDED"

// As the cache tells it; the JSON of a deletion is the last state.
struct ReadChange {
  ReadEventType type = ReadEventType::added;
  core::ObjectKey key;
  std::uint64_t version = 0;
  core::Labels labels{};
  std::string json{};
  core::Labels previous_labels{};
  std::string previous_json{};  // "" for added
  bool reduced = false;         // `json` has metadata only, though it is to be the whole object
  std::size_t bytes() const;
};

// One change that has its place. Its texts are shared by all watchers.
struct ReadEvent {
  ReadChange change;
  // Lines made from it, for watchers that see it the same way.
  mutable std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> lines{};
};
using ReadEventPtr = std::shared_ptr<const ReadEvent>;

class ReadHistory {
 public:
  explicit ReadHistory(HistoryLimits limits = {}) : limits_(limits) {}

  // Everything before `version` is unknown from now on: the first state, or one that is no
  // continuation of what was there. Watches of an earlier epoch are over.
  void reset(std::uint64_t version);
  // One live change. A deletion that is older than what was seen (of a name that came back with
  // another uid) waits for what comes behind it, the addition, and gets its version.
  void add(ReadChange change);
  // One change that a relist found, in any order: kept until the relist is over, within the limits.
  void note_relisted(ReadChange change);
  bool relisting() const { return relist_.too_long || !relist_.changes.empty(); }
  // Whether what was noted can be told as what came after what was told before. The data may have
  // gone back to a past and gone on from there to a higher version: then objects of that past are
  // found again, which nobody who stands at a version of the undone one would be told.
  bool goes_on_at(std::uint64_t version) const;
  // The relist is over: what it found is put in order, deletions, whose time nobody knows, last, or
  // right before the addition of another object by that name. They show the version before them,
  // so that who goes on from one of them is told all of them again. Where it found more than the
  // limits let be kept nobody could be told all of it: a new epoch.
  void add_relisted(std::uint64_t version);
  // Nothing changed up to here.
  void advance(std::uint64_t version);

  std::uint64_t epoch() const { return epoch_; }
  // The newest state, and the oldest from which all events are here.
  std::uint64_t version() const { return version_; }
  std::uint64_t oldest() const { return oldest_; }
  // Not those that were there before the data went back to a past, and are not there again.
  bool reaches(std::uint64_t version) const {
    return version >= oldest_ && (version <= version_ || version > rewound_from_);
  }

  // Places of events; [first, end) are here.
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + events_.size(); }
  const ReadEventPtr& at(std::uint64_t place) const {
    return events_[static_cast<std::size_t>(place - first_)];
  }
  // The first event that is newer than `version`.
  std::uint64_t after(std::uint64_t version) const;
  std::size_t bytes() const { return bytes_; }
  // Of what a relist that is not over found.
  std::size_t relisted_bytes() const { return relist_.bytes; }

 private:
  struct Relist {
    std::vector<ReadChange> changes;
    std::size_t bytes = 0;
    bool too_long = false;     // `changes` is empty then
    bool of_the_past = false;  // an object is no newer than what was told before
  };
  void push(ReadChange change);
  void flush_deletion(std::uint64_t version);

  HistoryLimits limits_;
  std::deque<ReadEventPtr> events_;
  std::optional<ReadChange> deletion_;  // waits for what comes behind it
  Relist relist_;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t rewound_from_ = 0;  // the highest version of an earlier epoch
  std::uint64_t first_ = 0;
  std::size_t bytes_ = 0;
};

// The object's text with another metadata.resourceVersion; as it is when it has none.
std::string with_version(std::string_view json, std::uint64_t version);

}  // namespace kubewatch::apiserver
