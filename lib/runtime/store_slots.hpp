// The table of a store: key -> slot -> record, with its counts; records that wait for the end of a
// list stand beside it. No JSON, no indexes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/resource.hpp"
#include "runtime/slot_set.hpp"
#include "runtime/store_id_table.hpp"
#include "runtime/store_record.hpp"

namespace kubewatch::runtime {

struct Slot {
  RecordPtr current;  // what readers see; null while only staged, or unused
  std::uint32_t namespace_ = 0;
  std::uint32_t mark = 0;  // the list that saw it last
};

class SlotTable {
 public:
  static constexpr SlotId kNone = 0xffffffffU;

  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  SlotId find(std::string_view namespace_, std::string_view name) const;
  // Among current records.
  SlotId find_uid(std::string_view uid) const;
  // A new slot with a current or a staged record. Precondition: find() says kNone.
  SlotId add_current(std::string_view namespace_, RecordPtr record);
  SlotId add_staged(std::string_view namespace_, RecordPtr record);
  // Replace a record and return the old one; null takes it away. A slot left without any is freed.
  RecordPtr set_current(SlotId id, RecordPtr record);
  void set_staged(SlotId id, RecordPtr record);
  // staged becomes current; returns the old one. Precondition: it has a staged record.
  RecordPtr flip(SlotId id);

  Slot& operator[](SlotId id) { return slots_[id]; }
  const Slot& operator[](SlotId id) const { return slots_[id]; }
  // Null when nothing is staged there.
  const Record* staged(SlotId id) const;
  bool used(SlotId id) const { return slots_[id].current || staged(id) != nullptr; }
  // Ids run from 0 to limit() - 1; some are unused.
  SlotId limit() const { return static_cast<SlotId>(slots_.size()); }
  core::ObjectKey key(SlotId id) const;
  const std::string& namespace_of(SlotId id) const {
    return namespaces_[slots_[id].namespace_].name;
  }

  std::size_t used_count() const { return by_name_.size(); }
  std::size_t current_count() const { return current_count_; }
  std::uint64_t current_text() const { return current_text_; }
  std::size_t reduced_count() const { return reduced_count_; }  // of the current ones
  std::size_t bytes() const;

 private:
  struct Namespace {
    std::string name;
    std::size_t users = 0;
  };

  const Record& any(SlotId id) const;
  std::uint64_t hash_name(SlotId id) const;
  std::uint64_t hash_uid(SlotId id) const;
  std::uint32_t intern(std::string_view namespace_);
  SlotId add(std::string_view namespace_);
  void release(SlotId id);
  void count(const Record* out, const Record* in, bool current);
  void reindex_uid(SlotId id, const RecordPtr& next);

  std::vector<Slot> slots_;
  std::vector<SlotId> free_;
  std::unordered_map<SlotId, RecordPtr> staged_;
  std::vector<Namespace> namespaces_;
  std::vector<std::uint32_t> free_namespaces_;
  std::unordered_map<std::string, std::uint32_t> namespace_ids_;
  IdTable by_name_;
  IdTable by_uid_;
  std::size_t current_count_ = 0;
  std::uint64_t current_text_ = 0;
  std::size_t reduced_count_ = 0;
  std::uint64_t held_ = 0;  // by records, staged ones as well
};

}  // namespace kubewatch::runtime
