#include "apiserver/storage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/status.hpp"

namespace kubewatch::apiserver {

namespace {

// So many events later nobody looks at what they replaced any more but for its text: watches that
// are up to date have told it, and no write is still at it.
constexpr std::size_t kStaysBuilt = 64;
// Of large objects fewer stay built: what is built takes many times as much as its text.
constexpr std::size_t kBuiltBytes = 8U << 20U;
constexpr std::size_t kStaysBuiltAnyway = 8;

// What an event's object shows is in the table, or is what the next event of its key replaced.
std::size_t bytes_alone(const Event& event) {
  std::size_t bytes = kBytesPerChange;
  if (event.previous) bytes += event.previous->body().size();
  if (event.type == EventType::deleted) bytes += event.object->body().size();
  return bytes;
}

}  // namespace

const Storage::Table* Storage::table(const std::string& storage_id) const {
  const auto it = tables_.find(storage_id);
  return it == tables_.end() ? nullptr : &it->second;
}

std::uint64_t Storage::compacted(const Table* of) const {
  return of == nullptr ? compacted_ : std::max(compacted_, of->compacted);
}

ObjectPtr Storage::get(const std::string& storage_id, const std::string& key) const {
  const Table* of = table(storage_id);
  if (of == nullptr) return nullptr;
  const auto it = of->objects.find(key);
  return it == of->objects.end() ? nullptr : it->second;
}

ObjectPtr Storage::put(const std::string& storage_id, Json object, std::optional<Json> shown) {
  Table& of = tables_[storage_id];
  const std::string version = std::to_string(++version_);
  object["metadata"]["resourceVersion"] = version;
  auto stored = std::make_shared<const Object>(std::move(object));
  of.as_put.erase(stored->key());
  if (shown) {
    of.as_put[stored->key()] = stored;
    (*shown)["metadata"]["resourceVersion"] = version;
    stored = std::make_shared<const Object>(std::move(*shown));
  }
  auto event = std::make_shared<Event>();
  event->version = version_;
  event->object = stored;
  event->previous = get(storage_id, stored->key());
  event->type = event->previous ? EventType::modified : EventType::added;
  event->bytes = bytes_alone(*event);
  // Nothing may fail between the slot and what fills it: who reads the table finds no null.
  of.objects[stored->key()] = stored;
  record(storage_id, of, std::move(event));
  return stored;
}

ObjectPtr Storage::remove(const std::string& storage_id, const std::string& key) {
  const auto it = tables_.find(storage_id);
  if (it == tables_.end()) return nullptr;
  const auto at = it->second.objects.find(key);
  if (at == it->second.objects.end()) return nullptr;
  auto event = std::make_shared<Event>();
  event->type = EventType::deleted;
  event->version = ++version_;
  event->previous = at->second;
  Json last = at->second->json();
  last["metadata"]["resourceVersion"] = std::to_string(version_);
  event->object = std::make_shared<const Object>(std::move(last));
  event->bytes = bytes_alone(*event);
  it->second.as_put.erase(key);
  it->second.objects.erase(at);
  ObjectPtr removed = event->object;
  record(storage_id, it->second, std::move(event));
  return removed;
}

void Storage::reread(const std::string& storage_id, const std::function<void(Json&)>& read) {
  const auto it = tables_.find(storage_id);
  if (it == tables_.end()) return;
  auto& as_put = it->second.as_put;
  for (auto& [key, shown] : it->second.objects) {
    const auto kept = as_put.find(key);
    const ObjectPtr original = kept == as_put.end() ? shown : kept->second;
    Json object = original->json();
    read(object);
    if (object == original->json()) {
      shown = original;
      as_put.erase(key);
    } else {
      shown = std::make_shared<const Object>(std::move(object));
      as_put[key] = original;
    }
  }
}

bool Storage::is_as_put(const std::string& storage_id, const std::string& key) const {
  const Table* of = table(storage_id);
  return of == nullptr || of->as_put.count(key) == 0;
}

void Storage::shrink_past(Table& of) {
  while (of.built > kStaysBuilt || (of.built > kStaysBuiltAnyway && of.built_bytes > kBuiltBytes)) {
    const Event& past = *of.history[of.history.size() - of.built];
    if (past.previous) past.previous->shrink();
    if (past.type == EventType::deleted) past.object->shrink();
    --of.built;
    of.built_bytes -= past.bytes;
  }
}

void Storage::record(const std::string& storage_id, Table& of, EventPtr event) {
  of.history.push_back(event);
  of.bytes += event->bytes;
  ++of.built;
  of.built_bytes += event->bytes;
  shrink_past(of);
  while (history_limits_.exceeded_by(of.history.size(), of.bytes)) {
    const EventPtr oldest = std::move(of.history.front());
    of.history.pop_front();
    of.compacted = oldest->version;
    of.bytes -= oldest->bytes;
    if (of.built <= of.history.size()) continue;
    --of.built;
    of.built_bytes -= oldest->bytes;
  }
  for (const auto& observer : observers_) observer(storage_id, event);
}

void Storage::each(const std::string& storage_id, const std::string& prefix,
                   const std::string& from, const Visit& visit) const {
  const Table* of = table(storage_id);
  if (of == nullptr) return;
  for (auto it = of->objects.lower_bound(std::max(prefix, from)); it != of->objects.end(); ++it) {
    if (!it->first.starts_with(prefix) || !visit(it->second)) return;
  }
}

Result<void> Storage::each_at(const std::string& storage_id, std::uint64_t version,
                              const std::string& prefix, const std::string& from,
                              const Visit& visit) const {
  if (version > version_) return version_too_large(version, version_);
  const Table* of = table(storage_id);
  // What a watch cache does not reach is asked of etcd, which has these words of its own.
  if (version < compacted(of)) {
    return expired("The resourceVersion for the provided list is too old.");
  }
  if (of == nullptr) return {};
  // What is different now: the state before each key's first event after `version`; null = was
  // absent.
  std::map<std::string, ObjectPtr> then;
  for (auto it = of->history.rbegin(); it != of->history.rend(); ++it) {
    if ((*it)->version <= version) break;
    then[(*it)->object->key()] = (*it)->previous;
  }
  const std::string start = std::max(prefix, from);
  auto now_at = of->objects.lower_bound(start);
  auto then_at = then.lower_bound(start);
  while (now_at != of->objects.end() || then_at != then.end()) {
    const bool take_then =
        then_at != then.end() && (now_at == of->objects.end() || then_at->first <= now_at->first);
    const std::string& key = take_then ? then_at->first : now_at->first;
    if (!key.starts_with(prefix)) return {};
    const ObjectPtr object = take_then ? then_at->second : now_at->second;
    if (object && !visit(object)) return {};
    if (take_then) {
      if (now_at != of->objects.end() && now_at->first == then_at->first) ++now_at;
      ++then_at;
    } else {
      ++now_at;
    }
  }
  return {};
}

std::size_t Storage::size(const std::string& storage_id) const {
  const Table* of = table(storage_id);
  return of == nullptr ? 0 : of->objects.size();
}

Result<std::vector<EventPtr>> Storage::since(const std::string& storage_id,
                                             std::uint64_t version) const {
  const Table* of = table(storage_id);
  const std::uint64_t oldest = compacted(of);
  if (version < oldest) {
    return expired(fmt::format("too old resource version: {} ({})", version, oldest));
  }
  std::vector<EventPtr> events;
  if (of == nullptr) return events;
  const auto first = std::partition_point(of->history.begin(), of->history.end(),
                                          [&](const auto& e) { return e->version <= version; });
  events.assign(first, of->history.end());
  return events;
}

void Storage::compact() {
  compacted_ = version_;
  for (auto& [id, of] : tables_) {
    of.history.clear();
    of.bytes = of.built = of.built_bytes = 0;
  }
}

std::shared_ptr<const Storage::Backup> Storage::back_up() const {
  auto backup = std::make_shared<Backup>();
  backup->version = version_;
  for (const auto& [id, of] : tables_) {
    Table& kept = backup->tables[id];
    kept.objects = of.objects;
    kept.as_put = of.as_put;
    kept.compacted = version_;
  }
  return backup;
}

void Storage::restore(const Backup& backup) {
  tell_difference(backup);
  for (auto& [id, of] : tables_) of = Table{};
  for (const auto& [id, of] : backup.tables) tables_[id] = of;
  version_ = backup.version;
  compacted_ = backup.version;
}

void Storage::tell_difference(const Backup& backup) {
  std::vector<std::pair<std::string, std::string>> extra;
  for (const auto& [id, of] : tables_) {
    const auto then = backup.tables.find(id);
    for (const auto& [key, object] : of.objects) {
      if (then == backup.tables.end() || !then->second.objects.contains(key)) {
        extra.emplace_back(id, key);
      }
    }
  }
  for (const auto& [id, key] : extra) remove(id, key);
  for (const auto& [id, of] : backup.tables) {
    for (const auto& [key, object] : of.objects) {
      if (get(id, key) != object) put(id, object->json());
    }
  }
}

}  // namespace kubewatch::apiserver
