// Runs that wait because a list that they would be given may lack an object: on which expression of
// the rule each waits, as it was told last, whom to wake when that has changed, and how it is said.
// No I/O but that it looks up, once for each expression, in which line of the rule's file that
// stands. The driver's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/resource.hpp"
#include "hooks/input_list.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

class LackingRuns {
 public:
  // `rule` must outlive it.
  explicit LackingRuns(const Rule& rule) : rule_(rule) {}

  // The run of this object waits. Whether that is to be told: not again for the same expression,
  // which may fail on many objects, of which one is named, each time another.
  bool hold(const core::ObjectKey& key, const Lack& lack);
  void forget(const core::ObjectKey& key) { lacking_.erase(key); }

  bool any() const { return !lacking_.empty(); }
  bool has(const core::ObjectKey& key) const { return lacking_.count(key) > 0; }
  const std::map<core::ObjectKey, Lack>& all() const { return lacking_; }
  // Those that wait for an entry of the rule: "/spec/owns/0".
  std::vector<core::ObjectKey> held_by(const std::string& place) const;
  // It refers to nothing that can be told, and may do so when it has changed itself.
  bool waits_for_itself(const core::ObjectKey& key) const;

  // "rules.yaml:12: map of watches config fails on ...". Of a key: what it waits for, "" = nothing.
  std::string in_words(const Lack& lack) const;
  std::string in_words(const core::ObjectKey& key) const;

 private:
  const Rule& rule_;
  std::map<core::ObjectKey, Lack> lacking_;
  mutable std::map<std::string, std::string> places_;  // of the rule's expressions, found once
};

}  // namespace kubewatch::hooks
