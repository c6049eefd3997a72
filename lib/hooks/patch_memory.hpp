// Which objects the runs of a rule have patched, by what their hooks print or by what these write
// through the gateway of `credentials: cache`, and how they left them, so that a change that a
// watch tells of is known as a run's own, or as somebody else's. The latest ones only: a watch
// tells of a change soon after it was made. Lost at a restart without harm. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hooks/ownership.hpp"

namespace kubewatch::hooks {

class PatchMemory {
 public:
  explicit PatchMemory(std::size_t most = 1000) : most_(most) {}

  // Around each patch that a run of this owner sends. `resource_version`: of the object after it;
  // "" where the patch changed nothing, failed, or has no answer.
  void begin(const std::string& owner_uid, const ChildId& id) { ++open_[{id, owner_uid}]; }
  void end(const std::string& owner_uid, const ChildId& id, const std::string& resource_version);
  // What end() remembers, of a write that had no begin(): its object had no name before.
  void left(const std::string& owner_uid, const ChildId& id, const std::string& resource_version);

  // The uid of the owner whose run left it in this state; null: nobody's that is known. Valid until
  // the next call that is not const.
  const std::string* left_by(const ChildId& id, const std::string& resource_version) const;
  // The uids of owners whose runs patch it just now: a state that nobody is known to have made may
  // be such a patch's, whose event came before its answer.
  std::vector<std::string> patching(const ChildId& id) const;
  // The server's data went back: no version says anything any more.
  void forget_versions();

 private:
  using State = std::pair<ChildId, std::string>;  // and its resourceVersion

  std::size_t most_;
  std::map<std::pair<ChildId, std::string>, std::size_t> open_;  // and the owner's uid
  std::map<State, std::string> left_;                            // by whom
  std::deque<State> order_;                                      // of left_, the oldest first
};

}  // namespace kubewatch::hooks
