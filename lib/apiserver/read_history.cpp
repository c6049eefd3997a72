#include "apiserver/read_history.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json_cut.hpp"

namespace kubewatch::apiserver {

namespace {

// Their time nobody knows: deletions come last, but for one of an object that is there again, which
// comes right before that.
void place_deletions(std::vector<ReadChange>& changes, std::uint64_t version) {
  std::map<core::ObjectKey, std::uint64_t> added;
  for (const auto& change : changes) {
    if (change.type == ReadEventType::added) added.emplace(change.key, change.version);
  }
  for (auto& change : changes) {
    if (change.type != ReadEventType::deleted) continue;
    const auto again = added.find(change.key);
    change.version = again == added.end() ? version : again->second;
  }
  const auto is_later = [](const ReadChange& change) {
    return change.type != ReadEventType::deleted;
  };
  std::stable_sort(changes.begin(), changes.end(), [&](const ReadChange& a, const ReadChange& b) {
    return std::pair(a.version, is_later(a)) < std::pair(b.version, is_later(b));
  });
}

}  // namespace

const char* to_string(ReadEventType type) {
  switch (type) {
    case ReadEventType::added: return "ADDED";
    case ReadEventType::modified: return "MODIFIED";
    case ReadEventType::deleted: break;
  }
  return "DELETED";
}

std::size_t ReadChange::bytes() const {
  return kBytesPerChange + json.size() + previous_json.size();
}

void ReadHistory::reset(std::uint64_t version) {
  ++epoch_;
  first_ = end();
  events_.clear();
  deletion_.reset();
  relist_ = {};
  bytes_ = 0;
  rewound_from_ = std::max(rewound_from_, version_);
  version_ = oldest_ = version;
}

void ReadHistory::push(ReadChange change) {
  change.version = std::max(change.version, version_);
  version_ = change.version;
  auto event = std::make_shared<ReadEvent>();
  event->change = std::move(change);
  bytes_ += event->change.bytes();
  events_.push_back(std::move(event));
  while (limits_.exceeded_by(events_.size(), bytes_)) {
    oldest_ = events_.front()->change.version;
    bytes_ -= events_.front()->change.bytes();
    events_.pop_front();
    ++first_;
  }
}

void ReadHistory::flush_deletion(std::uint64_t version) {
  if (!deletion_) return;
  ReadChange change = std::move(*deletion_);
  deletion_.reset();
  change.version = version;
  // A client that goes on from it gets what has the same version again, rather than not at all.
  change.json = with_version(change.json, version_);
  push(std::move(change));
}

void ReadHistory::add(ReadChange change) {
  flush_deletion(change.version);
  if (change.type == ReadEventType::deleted && change.version <= version_) {
    deletion_ = std::move(change);
    return;
  }
  push(std::move(change));
}

void ReadHistory::note_relisted(ReadChange change) {
  // A deletion has the version of what was there before.
  const bool old = change.type != ReadEventType::deleted && change.version <= version_;
  relist_.of_the_past = relist_.of_the_past || old;
  if (relist_.too_long) return;
  relist_.bytes += change.bytes();
  relist_.changes.push_back(std::move(change));
  if (!limits_.exceeded_by(relist_.changes.size(), relist_.bytes)) return;
  relist_.changes = {};
  relist_.bytes = 0;
  relist_.too_long = true;
}

bool ReadHistory::goes_on_at(std::uint64_t version) const {
  return version >= version_ && !relist_.of_the_past;
}

void ReadHistory::add_relisted(std::uint64_t version) {
  if (relist_.too_long) return reset(version);
  std::vector<ReadChange> changes = std::exchange(relist_, {}).changes;
  flush_deletion(version_);
  place_deletions(changes, version);
  std::uint64_t below = version_;  // the newest that is older than what comes: see flush_deletion
  for (auto& change : changes) {
    if (change.version > version_) below = version_;
    if (change.type == ReadEventType::deleted) change.json = with_version(change.json, below);
    push(std::move(change));
  }
  advance(version);
}

void ReadHistory::advance(std::uint64_t version) {
  flush_deletion(version);
  version_ = std::max(version_, version);
}

std::uint64_t ReadHistory::after(std::uint64_t version) const {
  const auto newer = std::partition_point(
      events_.begin(), events_.end(),
      [&](const ReadEventPtr& event) { return event->change.version <= version; });
  return first_ + static_cast<std::uint64_t>(newer - events_.begin());
}

std::string with_version(std::string_view json, std::uint64_t version) {
  std::string_view found;
  // Broken text keeps what it has: it was read as JSON before it got here.
  (void)core::for_each_member(json, [&](const core::JsonMember& member) {
    if (member.key != "metadata") return;
    (void)core::for_each_member(member.value, [&](const core::JsonMember& inner) {
      if (inner.key == "resourceVersion") found = inner.value;
    });
  });
  if (found.empty()) return std::string(json);
  const auto at = static_cast<std::size_t>(found.data() - json.data());
  std::string out(json.substr(0, at));
  out.append("\"").append(std::to_string(version)).append("\"");
  out.append(json.substr(at + found.size()));
  return out;
}

}  // namespace kubewatch::apiserver
