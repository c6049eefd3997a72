// Kinds of a rule that may be missing (`optional: true`): which of them the server has, and whether
// that has changed so that the rule starts anew. Pure.
#pragma once

#include <set>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// Those of for, owns and watches. Of {group, kinds: "*"} none: they come and go by themselves.
std::vector<core::Gvk> optional_kinds(const Rule& rule);

// The server has no such kind in any version, and all of its group answered.
bool is_absent(const client::ResourceMap& resources, const core::Gvk& gvk);

class OptionalKinds {
 public:
  // What the rule starts with.
  void start(const Rule& rule, const client::ResourceMap& resources);
  // A later discovery. True: a kind has come, or has gone; going is believed when it was missing
  // twice in a row, for one of several API servers may be behind.
  bool look(const client::ResourceMap& resources);

 private:
  std::vector<core::Gvk> kinds_;
  std::set<core::Gvk> absent_;   // at the start
  std::set<core::Gvk> missing_;  // were there, and were not in the last discovery
};

}  // namespace kubewatch::hooks
