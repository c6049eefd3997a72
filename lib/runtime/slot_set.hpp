// A set of slot ids, as small as what is in it allows: one id stands in the object itself, a few in
// one block, many in pieces of 65,536 ids as lists of halves or as bits. An index over 100k objects
// holds ten such entries for each of them. Plain data structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kubewatch::runtime {

using SlotId = std::uint32_t;

class SlotSet {
 public:
  SlotSet() = default;
  ~SlotSet() { clear(); }
  SlotSet(SlotSet&& other) noexcept;
  SlotSet& operator=(SlotSet&& other) noexcept;
  SlotSet(const SlotSet&) = delete;
  SlotSet& operator=(const SlotSet&) = delete;

  bool empty() const { return word_ == 0; }
  void insert(SlotId id);
  void erase(SlotId id);
  // Appends all, in ascending order.
  void collect(std::vector<SlotId>& out) const;
  // The greatest. Precondition: not empty.
  SlotId last() const;
  // Memory behind it, an estimate.
  std::size_t bytes() const;

 private:
  struct Few;
  struct Piece;
  struct Many;
  // The two low bits say what the rest is: nothing, an id, a block, pieces.
  enum Form : std::uintptr_t { kEmpty = 0, kOne = 1, kFew = 2, kMany = 3 };

  Form form() const { return static_cast<Form>(word_ & 3U); }
  SlotId one() const { return static_cast<SlotId>(word_ >> 2U); }
  Few* few() const { return reinterpret_cast<Few*>(word_ & ~std::uintptr_t{3}); }
  Many* many() const { return reinterpret_cast<Many*>(word_ & ~std::uintptr_t{3}); }
  void set_one(SlotId id) { word_ = std::uintptr_t{id} << 2U | kOne; }
  void clear();
  void insert_few(SlotId id);
  void erase_few(SlotId id);
  void erase_many(SlotId id);

  static_assert(sizeof(std::uintptr_t) == 8, "an id and two bits in one word");
  std::uintptr_t word_ = 0;
};

}  // namespace kubewatch::runtime
