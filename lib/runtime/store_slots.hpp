// The table of a store: key -> slot -> current and staged record, with its counts. No JSON, no
// indexes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/resource.hpp"
#include "runtime/store_index.hpp"
#include "runtime/store_record.hpp"

namespace kubewatch::runtime {

struct Slot {
  RecordPtr current;  // what readers see; null while only staged
  RecordPtr staged;   // waits for the end of a list
  std::uint32_t namespace_ = 0;
  std::uint32_t mark = 0;  // the list that saw it last
  std::string_view name() const { return current ? current->name() : staged->name(); }
};

class SlotTable {
 public:
  static constexpr SlotId kNone = 0xffffffffU;

  SlotTable();
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  SlotId find(std::string_view namespace_, std::string_view name) const;
  // A new slot that holds `record` as staged or current. Precondition: find() says kNone.
  SlotId add_staged(std::string_view namespace_, RecordPtr record);
  // Replace a record; null takes it away. A slot left without any is freed.
  RecordPtr set_current(SlotId id, RecordPtr record);
  RecordPtr set_staged(SlotId id, RecordPtr record);
  // staged becomes current; returns the old one. Precondition: it has a staged record.
  RecordPtr flip(SlotId id);

  Slot& operator[](SlotId id) { return slots_[id]; }
  const Slot& operator[](SlotId id) const { return slots_[id]; }
  bool used(SlotId id) const { return slots_[id].current || slots_[id].staged; }
  // Ids run from 0 to limit() - 1; some are unused.
  SlotId limit() const { return static_cast<SlotId>(slots_.size()); }
  core::ObjectKey key(SlotId id) const;

  std::size_t used_count() const { return by_name_.size(); }
  std::size_t current_count() const { return current_count_; }
  std::uint64_t current_text() const { return current_text_; }
  std::size_t bytes() const;

 private:
  struct Name {
    std::string_view namespace_, name;
  };
  struct Hash {
    using is_transparent = void;
    const SlotTable* table;
    std::size_t operator()(const Name& name) const noexcept;
    std::size_t operator()(SlotId id) const noexcept { return (*this)(table->name_of(id)); }
  };
  struct Equal {
    using is_transparent = void;
    const SlotTable* table;
    bool operator()(SlotId a, SlotId b) const { return a == b; }
    bool operator()(const Name& a, SlotId b) const {
      const Name other = table->name_of(b);
      return a.name == other.name && a.namespace_ == other.namespace_;
    }
    bool operator()(SlotId a, const Name& b) const { return (*this)(b, a); }
  };
  struct Namespace {
    std::string name;
    std::size_t users = 0;
  };

  Name name_of(SlotId id) const {
    return {namespaces_[slots_[id].namespace_].name, slots_[id].name()};
  }
  std::uint32_t intern(std::string_view namespace_);
  void release(SlotId id);
  void count(const Record* out, const Record* in, bool current);

  std::vector<Slot> slots_;
  std::vector<SlotId> free_;
  std::vector<Namespace> namespaces_;
  std::vector<std::uint32_t> free_namespaces_;
  std::unordered_map<std::string, std::uint32_t> namespace_ids_;
  std::unordered_set<SlotId, Hash, Equal> by_name_;
  std::size_t current_count_ = 0;
  std::uint64_t current_text_ = 0;
  std::uint64_t held_ = 0;  // by records, staged ones as well
};

}  // namespace kubewatch::runtime
