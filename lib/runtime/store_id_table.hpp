// A hash table of slot ids, four bytes a place: open addressing, linear probing, no tombstones. It
// keeps no keys: whoever owns the slots says how an id hashes and which one is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kubewatch::runtime {

class IdTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return places_.capacity() * sizeof(std::uint32_t); }

  // The id with that hash for which `is(id)` holds, or kNone.
  template <class Is>
  std::uint32_t find(std::uint64_t hash, const Is& is) const {
    if (size_ == 0) return kNone;
    for (std::size_t at = home(hash); places_[at] != kNone; at = next(at)) {
      if (is(places_[at])) return places_[at];
    }
    return kNone;
  }

  // Precondition: it is not in. `hash_of(id)` must hold for all ids that are in, and for this one.
  template <class HashOf>
  void insert(std::uint32_t id, const HashOf& hash_of) {
    if ((size_ + 1) * 4 > places_.size() * 3) grow(hash_of);
    put(id, hash_of(id));
    ++size_;
  }

  template <class HashOf>
  void erase(std::uint32_t id, const HashOf& hash_of) {
    if (size_ == 0) return;
    std::size_t at = home(hash_of(id));
    while (places_[at] != id) {
      if (places_[at] == kNone) return;
      at = next(at);
    }
    --size_;
    // What stands behind the hole moves up, unless it is at home between hole and itself.
    for (std::size_t behind = next(at); places_[behind] != kNone; behind = next(behind)) {
      const std::size_t wanted = home(hash_of(places_[behind]));
      const bool stays =
          at <= behind ? at < wanted && wanted <= behind : at < wanted || wanted <= behind;
      if (stays) continue;
      places_[at] = places_[behind];
      at = behind;
    }
    places_[at] = kNone;
  }

  void clear() {
    places_ = {};
    size_ = 0;
  }

 private:
  std::size_t home(std::uint64_t hash) const {
    return static_cast<std::size_t>(((hash >> 32U) * places_.size()) >> 32U);
  }
  std::size_t next(std::size_t at) const { return at + 1 == places_.size() ? 0 : at + 1; }

  void put(std::uint32_t id, std::uint64_t hash) {
    std::size_t at = home(hash);
    while (places_[at] != kNone) at = next(at);
    places_[at] = id;
  }

  template <class HashOf>
  void grow(const HashOf& hash_of) {
    std::vector<std::uint32_t> old(places_.size() + places_.size() / 2 + 16, kNone);
    old.swap(places_);
    for (const std::uint32_t id : old) {
      if (id != kNone) put(id, hash_of(id));
    }
  }

  std::vector<std::uint32_t> places_;
  std::size_t size_ = 0;
};

}  // namespace kubewatch::runtime
