#include "apiserver/read_history.hpp"

#include <algorithm>
#include <map>

#include "core/json_cut.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kPerEvent = 256;  // beside its texts

// An object that went and came back between two lists: one modification, as a client that lists
// again is told it.
std::vector<ReadChange> joined(std::vector<ReadChange> changes) {
  std::map<core::ObjectKey, std::size_t> gone;
  std::vector<ReadChange> out;
  for (auto& change : changes) {
    const auto known = gone.find(change.key);
    if (change.type == ReadEventType::added && known != gone.end()) {
      ReadChange& before = out[known->second];
      change.type = ReadEventType::modified;
      change.previous_json = std::move(before.json);
      change.previous_labels = std::move(before.labels);
      before = std::move(change);
      gone.erase(known);
      continue;
    }
    if (change.type == ReadEventType::deleted) gone[change.key] = out.size();
    out.push_back(std::move(change));
  }
  return out;
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

std::size_t ReadEvent::bytes() const {
  return kPerEvent + change.json.size() + change.previous_json.size();
}

void ReadHistory::reset(std::uint64_t version) {
  ++epoch_;
  first_ = end();
  events_.clear();
  deletion_.reset();
  bytes_ = 0;
  rewound_from_ = std::max(rewound_from_, version_);
  version_ = oldest_ = version;
}

void ReadHistory::push(ReadChange change) {
  change.version = std::max(change.version, version_);
  version_ = change.version;
  auto event = std::make_shared<ReadEvent>();
  event->change = std::move(change);
  bytes_ += event->bytes();
  events_.push_back(std::move(event));
  while (events_.size() > limits_.events || (bytes_ > limits_.bytes && events_.size() > 1)) {
    oldest_ = events_.front()->change.version;
    bytes_ -= events_.front()->bytes();
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
  if (deletion_ && deletion_->key == change.key && change.type == ReadEventType::added) {
    change.type = ReadEventType::modified;
    change.previous_json = std::move(deletion_->json);
    change.previous_labels = std::move(deletion_->labels);
    deletion_.reset();
  }
  flush_deletion(change.version);
  if (change.type == ReadEventType::deleted && change.version <= version_) {
    deletion_ = std::move(change);
    return;
  }
  push(std::move(change));
}

void ReadHistory::add_relisted(std::vector<ReadChange> changes, std::uint64_t version) {
  flush_deletion(version_);
  changes = joined(std::move(changes));
  for (auto& change : changes) {
    if (change.type == ReadEventType::deleted) change.version = version;
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const ReadChange& a, const ReadChange& b) { return a.version < b.version; });
  std::optional<std::uint64_t> before;  // the version that deletions show: see flush_deletion
  for (auto& change : changes) {
    if (change.type == ReadEventType::deleted) {
      if (!before) before = version_;
      change.json = with_version(change.json, *before);
    }
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
