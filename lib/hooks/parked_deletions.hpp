// Deletions whose onDelete is parked. Live objects that are parked are as many as the cluster has;
// of what is gone there may be ever more: beyond bounds the oldest are to be given up. Pure; the
// driver's.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>

#include "hooks/untold_deletions.hpp"

namespace kubewatch::hooks {

class ParkedDeletions {
 public:
  static constexpr std::size_t kMostObjects = UntoldDeletions::kMostObjects;
  static constexpr std::size_t kMostBytes = UntoldDeletions::kMostBytes;  // of last states

  // The youngest now, also where it was parked before.
  void park(const core::ObjectKey& key, std::size_t bytes) {
    forget(key);
    places_[key] = order_.insert(order_.end(), Parked{key, bytes});
    bytes_ += bytes;
  }
  void forget(const core::ObjectKey& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    bytes_ -= found->second->bytes;
    order_.erase(found->second);
    places_.erase(found);
  }
  // The oldest, where there are too many or their last states are too large; never the youngest.
  std::optional<core::ObjectKey> excess() const {
    if (order_.size() <= kMostObjects && bytes_ <= kMostBytes) return std::nullopt;
    if (order_.size() < 2) return std::nullopt;
    return order_.front().key;
  }

 private:
  struct Parked {
    core::ObjectKey key;
    std::size_t bytes;
  };

  std::list<Parked> order_;  // the oldest first
  std::unordered_map<core::ObjectKey, std::list<Parked>::iterator, core::ObjectKeyHash> places_;
  std::size_t bytes_ = 0;
};

}  // namespace kubewatch::hooks
