// A tiny API server in memory with one collection, for the random tests of the watcher and the
// store: it remembers every state it ever had, so that a test can ask what a cache ought to hold at
// any resourceVersion. No HTTP, no clock. Not the sandbox (lib/apiserver), which speaks the
// protocol.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "core/watch_event.hpp"

namespace kubewatch::test {

struct ModelObject {
  std::string uid;
  std::uint64_t version = 0;
  std::uint64_t value = 0;
  bool operator==(const ModelObject&) const = default;
};
using ModelState = std::map<std::string, ModelObject>;

inline std::string model_json(const std::string& name, const ModelObject& object) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":"shop",)"
      R"("uid":"{}","resourceVersion":"{}","labels":{{"parity":"{}"}},)"
      R"("managedFields":[{{"manager":"x"}}]}},"data":{{"value":"{}"}}}})",
      name, object.uid, object.version, object.value % 2, object.value);
}

struct ModelEvent {
  core::WatchEventType type = core::WatchEventType::added;
  std::string name;
  ModelObject object;  // version: the event's
};

class ModelServer {
 public:
  explicit ModelServer(base::Random& random) : random_(random) { states_[version_] = {}; }

  std::uint64_t version() const { return version_; }
  std::uint64_t compacted() const { return compacted_; }
  const ModelState& state() const { return states_.at(version_); }
  // Null when it never was, or is of a past that a restore undid.
  const ModelState* state_at(std::uint64_t version) const {
    const auto it = states_.find(version);
    return it == states_.end() ? nullptr : &it->second;
  }
  // Counts restores: resourceVersions of different epochs are not comparable.
  std::uint64_t epoch() const { return epoch_; }

  // The first event after a resourceVersion; null when there is none yet.
  const ModelEvent* after(std::uint64_t version) const {
    const auto it = events_.upper_bound(version);
    return it == events_.end() ? nullptr : &it->second;
  }

  // Creates, updates, deletes, or deletes and creates again under the same name.
  void write() {
    const std::string name = fmt::format("o{}", random_.below(12));
    const auto& now = state();
    const auto it = now.find(name);
    if (it == now.end()) {
      put(core::WatchEventType::added, name, fmt::format("uid-{}", ++uids_));
    } else if (random_.below(3) == 0) {
      erase(name);
      if (random_.below(2) == 0) write_new(name);
    } else {
      put(core::WatchEventType::modified, name, it->second.uid);
    }
  }

  void compact() { compacted_ = version_ - random_.below(std::min<std::uint64_t>(version_, 8)); }

  // Back to an earlier state, as after etcd's restore from a backup.
  void restore() {
    const std::uint64_t back = random_.below(std::min<std::uint64_t>(version_ - 9, 40)) + 1;
    auto it = states_.upper_bound(version_ - back);
    if (it == states_.begin()) return;
    --it;
    if (it->first == version_) return;
    version_ = it->first;
    states_.erase(std::next(it), states_.end());
    events_.erase(events_.upper_bound(version_), events_.end());
    compacted_ = std::min(compacted_, version_);
    ++epoch_;
  }

 private:
  void record(core::WatchEventType type, const std::string& name, const ModelObject& object,
              ModelState next) {
    version_ = object.version;
    events_[version_] = {type, name, object};
    states_[version_] = std::move(next);
  }
  void put(core::WatchEventType type, const std::string& name, std::string uid) {
    ModelState next = state();
    // Gaps between versions: other collections are written as well.
    const ModelObject object{std::move(uid), version_ + 1 + random_.below(3),
                             random_.next() % 1000};
    next[name] = object;
    record(type, name, object, std::move(next));
  }
  void write_new(const std::string& name) {
    put(core::WatchEventType::added, name, fmt::format("uid-{}", ++uids_));
  }
  void erase(const std::string& name) {
    ModelState next = state();
    ModelObject object = next.at(name);
    next.erase(name);
    object.version = version_ + 1 + random_.below(3);
    record(core::WatchEventType::deleted, name, object, std::move(next));
  }

  base::Random& random_;
  std::uint64_t version_ = 10;
  std::uint64_t compacted_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t uids_ = 0;
  std::map<std::uint64_t, ModelState> states_;
  std::map<std::uint64_t, ModelEvent> events_;
};

}  // namespace kubewatch::test
