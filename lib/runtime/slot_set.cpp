#include "runtime/slot_set.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace kubewatch::runtime {

namespace {

constexpr std::uint32_t kMostFew = 64;
constexpr std::uint32_t kFewAgain = 32;  // pieces with no more than these become a block again
constexpr std::size_t kMostLow = 4096;   // as many halves as the bits of a piece take
constexpr std::size_t kLowAgain = 2048;
constexpr std::size_t kWords = 65536 / 64;

std::uint16_t high_of(SlotId id) {
  return static_cast<std::uint16_t>(id >> 16U);
}
std::uint16_t low_of(SlotId id) {
  return static_cast<std::uint16_t>(id & 0xffffU);
}

}  // namespace

struct SlotSet::Few {
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;

  SlotId* begin() { return reinterpret_cast<SlotId*>(this + 1); }
  SlotId* end() { return begin() + count; }

  static Few* make(std::uint32_t capacity) {
    auto* block = new (::operator new (sizeof(Few) + std::size_t{capacity} * sizeof(SlotId))) Few();
    block->capacity = capacity;
    return block;
  }
  static void free(Few* block) { ::operator delete(block); }
};

struct SlotSet::Piece {
  std::uint16_t high = 0;
  std::uint32_t count = 0;
  std::vector<std::uint16_t> low;   // sorted; or
  std::vector<std::uint64_t> bits;  // when not empty

  bool insert(std::uint16_t value) {
    if (!bits.empty()) {
      const std::uint64_t bit = std::uint64_t{1} << (value % 64U);
      if ((bits[value / 64U] & bit) != 0) return false;
      bits[value / 64U] |= bit;
      ++count;
      return true;
    }
    const auto at = std::lower_bound(low.begin(), low.end(), value);
    if (at != low.end() && *at == value) return false;
    low.insert(at, value);
    ++count;
    if (low.size() > kMostLow) to_bits();
    return true;
  }
  bool erase(std::uint16_t value) {
    if (!bits.empty()) {
      const std::uint64_t bit = std::uint64_t{1} << (value % 64U);
      if ((bits[value / 64U] & bit) == 0) return false;
      bits[value / 64U] &= ~bit;
      --count;
      if (count < kLowAgain) to_low();
      return true;
    }
    const auto at = std::lower_bound(low.begin(), low.end(), value);
    if (at == low.end() || *at != value) return false;
    low.erase(at);
    --count;
    return true;
  }
  void collect(std::vector<SlotId>& out) const {
    const SlotId base = SlotId{high} << 16U;
    for (const std::uint16_t value : low) out.push_back(base | value);
    for (std::size_t word = 0; word < bits.size(); ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        out.push_back(base | static_cast<SlotId>(word * 64 +
                                                 static_cast<std::size_t>(__builtin_ctzll(left))));
      }
    }
  }

 private:
  void to_bits() {
    bits.assign(kWords, 0);
    for (const std::uint16_t value : low) bits[value / 64U] |= std::uint64_t{1} << (value % 64U);
    low = std::vector<std::uint16_t>();
  }
  void to_low() {
    std::vector<SlotId> ids;
    collect(ids);
    bits = std::vector<std::uint64_t>();
    for (const SlotId id : ids) low.push_back(low_of(id));
  }
};

struct SlotSet::Many {
  std::vector<Piece> pieces;  // by `high`
  std::size_t count = 0;

  std::vector<Piece>::iterator find(std::uint16_t high) {
    return std::lower_bound(pieces.begin(), pieces.end(), high,
                            [](const Piece& piece, std::uint16_t h) { return piece.high < h; });
  }
  void insert(SlotId id) {
    auto at = find(high_of(id));
    if (at == pieces.end() || at->high != high_of(id)) {
      at = pieces.insert(at, Piece{});
      at->high = high_of(id);
    }
    if (at->insert(low_of(id))) ++count;
  }
  void erase(SlotId id) {
    const auto at = find(high_of(id));
    if (at == pieces.end() || at->high != high_of(id) || !at->erase(low_of(id))) return;
    --count;
    if (at->count == 0) pieces.erase(at);
  }
};

SlotSet::SlotSet(SlotSet&& other) noexcept : word_(std::exchange(other.word_, 0)) {}

SlotSet& SlotSet::operator=(SlotSet&& other) noexcept {
  std::swap(word_, other.word_);
  return *this;
}

void SlotSet::clear() {
  if (form() == kFew) Few::free(few());
  if (form() == kMany) delete many();
  word_ = 0;
}

void SlotSet::insert(SlotId id) {
  switch (form()) {
    case kEmpty: return set_one(id);
    case kOne: {
      const SlotId other = one();
      if (other == id) return;
      Few* block = Few::make(2);
      block->count = 2;
      block->begin()[0] = std::min(id, other);
      block->begin()[1] = std::max(id, other);
      word_ = reinterpret_cast<std::uintptr_t>(block) | kFew;
      return;
    }
    case kFew: return insert_few(id);
    case kMany: return many()->insert(id);
  }
}

void SlotSet::insert_few(SlotId id) {
  Few* block = few();
  SlotId* at = std::lower_bound(block->begin(), block->end(), id);
  if (at != block->end() && *at == id) return;
  if (block->count == kMostFew) {
    auto* pieces = new Many();
    for (const SlotId other : *block) pieces->insert(other);
    pieces->insert(id);
    Few::free(block);
    word_ = reinterpret_cast<std::uintptr_t>(pieces) | kMany;
    return;
  }
  if (block->count == block->capacity) {
    Few* larger = Few::make(std::min(kMostFew, block->capacity + block->capacity / 2 + 1));
    larger->count = block->count;
    std::copy(block->begin(), block->end(), larger->begin());
    at = larger->begin() + (at - block->begin());
    Few::free(block);
    block = larger;
    word_ = reinterpret_cast<std::uintptr_t>(block) | kFew;
  }
  std::copy_backward(at, block->end(), block->end() + 1);
  *at = id;
  ++block->count;
}

void SlotSet::erase(SlotId id) {
  switch (form()) {
    case kEmpty: return;
    case kOne:
      if (one() == id) word_ = 0;
      return;
    case kFew: return erase_few(id);
    case kMany: return erase_many(id);
  }
}

void SlotSet::erase_few(SlotId id) {
  Few* block = few();
  SlotId* at = std::lower_bound(block->begin(), block->end(), id);
  if (at == block->end() || *at != id) return;
  std::copy(at + 1, block->end(), at);
  if (--block->count > 1) return;
  const SlotId left = *block->begin();
  Few::free(block);
  set_one(left);
}

void SlotSet::erase_many(SlotId id) {
  many()->erase(id);
  if (many()->count > kFewAgain) return;
  std::vector<SlotId> ids;
  collect(ids);
  delete many();
  Few* block = Few::make(static_cast<std::uint32_t>(ids.size()));
  block->count = block->capacity;
  std::copy(ids.begin(), ids.end(), block->begin());
  word_ = reinterpret_cast<std::uintptr_t>(block) | kFew;
}

void SlotSet::collect(std::vector<SlotId>& out) const {
  switch (form()) {
    case kEmpty: return;
    case kOne: return out.push_back(one());
    case kFew: out.insert(out.end(), few()->begin(), few()->end()); return;
    case kMany:
      for (const Piece& piece : many()->pieces) piece.collect(out);
      return;
  }
}

SlotId SlotSet::last() const {
  if (form() == kOne) return one();
  if (form() == kFew) return *(few()->end() - 1);
  const Piece& piece = many()->pieces.back();
  const SlotId base = SlotId{piece.high} << 16U;
  if (!piece.low.empty()) return base | piece.low.back();
  std::size_t word = kWords;
  while (piece.bits[--word] == 0) {
  }
  return base | static_cast<SlotId>(word * 64 + 63 -
                                    static_cast<std::size_t>(__builtin_clzll(piece.bits[word])));
}

std::size_t SlotSet::bytes() const {
  constexpr std::size_t kBlock = 16;  // of the allocator, for each block
  if (form() == kFew) return kBlock + sizeof(Few) + few()->capacity * sizeof(SlotId);
  if (form() != kMany) return 0;
  std::size_t sum = kBlock + sizeof(Many) + many()->pieces.capacity() * sizeof(Piece);
  for (const Piece& piece : many()->pieces) {
    sum += kBlock + piece.low.capacity() * sizeof(std::uint16_t) +
           piece.bits.capacity() * sizeof(std::uint64_t);
  }
  return sum;
}

}  // namespace kubewatch::runtime
