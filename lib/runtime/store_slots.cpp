#include "runtime/store_slots.hpp"

namespace kubewatch::runtime {

SlotTable::SlotTable() : by_name_(16, Hash{this}, Equal{this}) {}

std::size_t SlotTable::Hash::operator()(const Name& name) const noexcept {
  const std::hash<std::string_view> hash;
  return hash(name.name) * 0x9e3779b97f4a7c15U + hash(name.namespace_);
}

SlotId SlotTable::find(std::string_view namespace_, std::string_view name) const {
  const auto it = by_name_.find(Name{namespace_, name});
  return it == by_name_.end() ? kNone : *it;
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

SlotId SlotTable::add_staged(std::string_view namespace_, RecordPtr record) {
  SlotId id = limit();
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  slots_[id].namespace_ = intern(namespace_);
  count(nullptr, record.get(), false);
  slots_[id].staged = std::move(record);
  by_name_.insert(id);
  return id;
}

// Precondition: the slot still holds the record that carries its name.
void SlotTable::release(SlotId id) {
  by_name_.erase(id);
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
      current_text_ -= out->text_size();
    }
  }
  if (in != nullptr) {
    held_ += in->held();
    if (current) {
      ++current_count_;
      current_text_ += in->text_size();
    }
  }
}

RecordPtr SlotTable::set_current(SlotId id, RecordPtr record) {
  if (!record && !slots_[id].staged) release(id);
  count(slots_[id].current.get(), record.get(), true);
  slots_[id].current.swap(record);
  return record;
}

RecordPtr SlotTable::set_staged(SlotId id, RecordPtr record) {
  if (!record && !slots_[id].current) release(id);
  count(slots_[id].staged.get(), record.get(), false);
  slots_[id].staged.swap(record);
  return record;
}

RecordPtr SlotTable::flip(SlotId id) {
  Slot& slot = slots_[id];
  count(slot.staged.get(), nullptr, false);
  count(slot.current.get(), slot.staged.get(), true);
  RecordPtr old = std::move(slot.current);
  slot.current = std::move(slot.staged);
  return old;
}

core::ObjectKey SlotTable::key(SlotId id) const {
  const Name name = name_of(id);
  return {std::string(name.namespace_), std::string(name.name)};
}

std::size_t SlotTable::bytes() const {
  constexpr std::size_t kNode = 32;
  return held_ + slots_.capacity() * sizeof(Slot) + free_.capacity() * sizeof(SlotId) +
         by_name_.size() * kNode + by_name_.bucket_count() * sizeof(void*) +
         namespaces_.capacity() * sizeof(Namespace);
}

}  // namespace kubewatch::runtime
