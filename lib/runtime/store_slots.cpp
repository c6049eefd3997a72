#include "runtime/store_slots.hpp"

#include <utility>

#include "base/table_hash.hpp"

namespace kubewatch::runtime {

namespace {

std::uint64_t hash(std::string_view namespace_, std::string_view name) {
  return base::table_hash(name, base::table_hash(namespace_));
}

}  // namespace

const Record* SlotTable::staged(SlotId id) const {
  if (staged_.empty()) return nullptr;
  const auto it = staged_.find(id);
  return it == staged_.end() ? nullptr : it->second.get();
}

const Record& SlotTable::any(SlotId id) const {
  return slots_[id].current ? *slots_[id].current : *staged(id);
}

std::uint64_t SlotTable::hash_name(SlotId id) const {
  return hash(namespace_of(id), any(id).name());
}

std::uint64_t SlotTable::hash_uid(SlotId id) const {
  return base::table_hash(slots_[id].current->packed_uid());
}

SlotId SlotTable::find(std::string_view namespace_, std::string_view name) const {
  return by_name_.find(hash(namespace_, name), [&](SlotId id) {
    return any(id).name() == name && namespace_of(id) == namespace_;
  });
}

SlotId SlotTable::find_uid(std::string_view uid) const {
  if (uid.empty()) return kNone;
  return by_uid_.find(base::table_hash(PackedUid(uid).bytes()),
                      [&](SlotId id) { return slots_[id].current->has_uid(uid); });
}

std::uint32_t SlotTable::intern(std::string_view namespace_) {
  const auto [it, fresh] = namespace_ids_.try_emplace(std::string(namespace_), 0);
  if (fresh) {
    if (free_namespaces_.empty()) {
      it->second = static_cast<std::uint32_t>(namespaces_.size());
      namespaces_.emplace_back();
    } else {
      it->second = free_namespaces_.back();
      free_namespaces_.pop_back();
    }
    namespaces_[it->second] = {std::string(namespace_), 0};
  }
  ++namespaces_[it->second].users;
  return it->second;
}

SlotId SlotTable::add(std::string_view namespace_) {
  SlotId id = limit();
  if (free_.empty()) {
    // A third at a time: doubling would hold as much again as there is.
    if (slots_.size() == slots_.capacity()) slots_.reserve(slots_.size() + slots_.size() / 3 + 16);
    slots_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  slots_[id].namespace_ = intern(namespace_);
  return id;
}

SlotId SlotTable::add_current(std::string_view namespace_, RecordPtr record) {
  const SlotId id = add(namespace_);
  count(nullptr, record.get(), true);
  reindex_uid(id, record);
  slots_[id].current = std::move(record);
  by_name_.insert(id, [this](SlotId other) { return hash_name(other); });
  return id;
}

SlotId SlotTable::add_staged(std::string_view namespace_, RecordPtr record) {
  const SlotId id = add(namespace_);
  count(nullptr, record.get(), false);
  staged_[id] = std::move(record);
  by_name_.insert(id, [this](SlotId other) { return hash_name(other); });
  return id;
}

// Precondition: the slot still holds the record that carries its name.
void SlotTable::release(SlotId id) {
  by_name_.erase(id, [this](SlotId other) { return hash_name(other); });
  Namespace& home = namespaces_[slots_[id].namespace_];
  if (--home.users == 0) {
    namespace_ids_.erase(home.name);
    free_namespaces_.push_back(slots_[id].namespace_);
  }
  free_.push_back(id);
}

void SlotTable::count(const Record* out, const Record* in, bool current) {
  if (out != nullptr) {
    held_ -= out->held();
    if (current) {
      --current_count_;
      if (out->reduced()) --reduced_count_;
      current_text_ -= out->text_size();
    }
  }
  if (in != nullptr) {
    held_ += in->held();
    if (current) {
      ++current_count_;
      if (in->reduced()) ++reduced_count_;
      current_text_ += in->text_size();
    }
  }
}

// Before `next` replaces the slot's current record, so that by_uid_ holds slots with a uid only.
void SlotTable::reindex_uid(SlotId id, const RecordPtr& next) {
  const auto hash_of = [this](SlotId other) { return hash_uid(other); };
  Slot& slot = slots_[id];
  const bool had = slot.current && slot.current->has_uid();
  const bool has = next && next->has_uid();
  if (had && has && next->packed_uid() == slot.current->packed_uid()) return;
  if (had) by_uid_.erase(id, hash_of);
  if (!has) return;
  // The table asks for the hash of the id itself.
  const RecordPtr before = std::exchange(slot.current, next);
  by_uid_.insert(id, hash_of);
  slot.current = before;
}

RecordPtr SlotTable::set_current(SlotId id, RecordPtr record) {
  if (!record && staged(id) == nullptr) release(id);
  count(slots_[id].current.get(), record.get(), true);
  reindex_uid(id, record);
  return std::exchange(slots_[id].current, std::move(record));
}

void SlotTable::set_staged(SlotId id, RecordPtr record) {
  if (!record && !slots_[id].current) release(id);
  count(staged(id), record.get(), false);
  if (record) {
    staged_[id] = std::move(record);
  } else {
    staged_.erase(id);
  }
}

RecordPtr SlotTable::flip(SlotId id) {
  const auto it = staged_.find(id);
  count(it->second.get(), nullptr, false);
  count(slots_[id].current.get(), it->second.get(), true);
  reindex_uid(id, it->second);
  RecordPtr old = std::exchange(slots_[id].current, std::move(it->second));
  staged_.erase(it);
  return old;
}

core::ObjectKey SlotTable::key(SlotId id) const {
  return {namespace_of(id), std::string(any(id).name())};
}

std::size_t SlotTable::bytes() const {
  constexpr std::size_t kNode = 48;
  return held_ + slots_.capacity() * sizeof(Slot) + free_.capacity() * sizeof(SlotId) +
         by_name_.bytes() + by_uid_.bytes() + staged_.size() * kNode +
         namespaces_.capacity() * sizeof(Namespace);
}

}  // namespace kubewatch::runtime
