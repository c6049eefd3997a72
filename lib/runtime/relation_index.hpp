// Which object points at which: kept both ways, so that a change of either end finds the other.
// Pure.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::runtime {

class RelationIndex {
 public:
  // Replaces what `source` points at; an empty list forgets it.
  void set(const core::ObjectKey& source, const std::vector<core::ObjectKey>& targets);
  // In order.
  std::vector<core::ObjectKey> targets_of(const core::ObjectKey& source) const;
  std::vector<core::ObjectKey> sources_of(const core::ObjectKey& target) const;

 private:
  template <class Value>
  using Map = std::unordered_map<core::ObjectKey, Value, core::ObjectKeyHash>;
  Map<std::set<core::ObjectKey>> targets_;
  Map<std::set<core::ObjectKey>> sources_;
};

}  // namespace kubewatch::runtime
