// The kinds of a rule as it has begun to watch them, and whether the server still has them so.
// Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

class KindChanges {
 public:
  struct Change {
    core::ResourceType was;
    core::ResourceType now;
  };
  // A later discovery. A change is another scope or plural, or another version where this one is
  // served no more. It is believed when it was seen twice in a row: one of several API servers may
  // be behind. A kind that is missing in all versions has not changed: when it comes back as it
  // was, its watch goes on.
  std::optional<Change> look(const std::vector<core::ResourceType>& types,
                             const client::ResourceMap& resources);
  // A change was seen once: another look is worth it.
  bool doubts() const { return !doubted_.empty(); }

 private:
  std::set<core::Gvk> doubted_;  // by the last look
};

// "demo.dev/v1 Site (sites, namespaced)"
std::string describe(const core::ResourceType& type);

}  // namespace kubewatch::hooks
