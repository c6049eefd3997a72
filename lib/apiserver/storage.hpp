// Objects in memory under one resourceVersion counter, with a history of events per resource,
// bounded in number and bytes, from which watches start and from which the state at an older
// resourceVersion is rebuilt. No I/O, no clock, no validation: whatever is put is stored.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/history_limits.hpp"
#include "apiserver/object.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

enum class EventType { added, modified, deleted };

// One change. `object` of a deletion is the last state under the deletion's resourceVersion.
struct Event {
  EventType type = EventType::added;
  std::uint64_t version = 0;
  ObjectPtr object;
  ObjectPtr previous;     // null when added
  std::size_t bytes = 0;  // of what nobody but the event keeps once it was told
  // Lines of watch streams made from this event, shared by all watchers that see it the same way.
  mutable std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> lines;
};
using EventPtr = std::shared_ptr<const Event>;

class Storage {
 public:
  // Called at each change, from inside put() and remove(). Observers only take note.
  using Observer = std::function<void(const std::string& storage_id, const EventPtr& event)>;

  // `start`: the resourceVersion that the first write follows. All before it is too old, as if
  // another one had been here until then.
  explicit Storage(HistoryLimits history, std::uint64_t start = 0)
      : history_limits_(history), version_(start), compacted_(start) {}

  std::uint64_t version() const { return version_; }
  // Null when absent.
  ObjectPtr get(const std::string& storage_id, const std::string& key) const;
  // Creates or replaces the object of that key; sets metadata.resourceVersion. `shown`: the object
  // as it is read, where that differs.
  ObjectPtr put(const std::string& storage_id, Json object, std::optional<Json> shown = {});
  // Returns the object of the DELETED event; null when absent.
  ObjectPtr remove(const std::string& storage_id, const std::string& key);

  // Shows the objects as `read` makes them of what was put, from now on: no event, no other
  // resourceVersion, and what was put is kept for the next time. History stays as it was told.
  void reread(const std::string& storage_id, const std::function<void(Json&)>& read);
  // Whether the object of that key is what was put: a write that changes nothing of another one
  // puts it as it is shown.
  bool is_as_put(const std::string& storage_id, const std::string& key) const;

  // In key order, from the first key >= `from`, whose key starts with `prefix`; false from `visit`
  // ends.
  using Visit = std::function<bool(const ObjectPtr&)>;
  void each(const std::string& storage_id, const std::string& prefix, const std::string& from,
            const Visit& visit) const;
  // The same as things were at `version`. Errors: expired; version_too_large.
  Result<void> each_at(const std::string& storage_id, std::uint64_t version,
                       const std::string& prefix, const std::string& from,
                       const Visit& visit) const;
  std::size_t size(const std::string& storage_id) const;

  // Events after `version`, oldest first. Errors: expired, worded as a watch gets it.
  Result<std::vector<EventPtr>> since(const std::string& storage_id, std::uint64_t version) const;

  // Forgets all history: every older resourceVersion is too old.
  void compact();

  // All objects with their resourceVersions, and the version to go on from.
  class Backup;
  std::shared_ptr<const Backup> back_up() const;
  // As after a restore of etcd: versions go back, history is forgotten, and no event says so.
  // Observers are told the difference as changes, with versions that nobody else ever sees.
  void restore(const Backup& backup);

  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

 private:
  struct Table {
    std::map<std::string, ObjectPtr> objects;
    std::map<std::string, ObjectPtr> as_put;  // of objects that are shown otherwise
    std::deque<EventPtr> history;
    std::size_t bytes = 0;  // of all its events
    std::size_t built = 0;  // so many of the newest are not shrunk
    std::size_t built_bytes = 0;
    std::uint64_t compacted = 0;  // state at this version and later can be told
  };
  void tell_difference(const Backup& backup);
  std::uint64_t compacted(const Table* table) const;
  const Table* table(const std::string& storage_id) const;
  static void shrink_past(Table& table);
  void record(const std::string& storage_id, Table& table, EventPtr event);

  HistoryLimits history_limits_;
  std::uint64_t version_;
  std::uint64_t compacted_;
  std::map<std::string, Table> tables_;
  std::vector<Observer> observers_;
};

class Storage::Backup {
  friend class Storage;
  std::uint64_t version = 0;
  std::map<std::string, Table> tables;
};

}  // namespace kubewatch::apiserver
