// Deletions whose onDelete this instance has yet to run, in the order in which each name's objects
// went. Those that have failed may become ever more, as what is gone is not bounded by what the
// cluster holds: beyond one bound the oldest lose their last states, beyond another they are to be
// given up. Pure; the driver's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks/untold_deletions.hpp"

namespace kubewatch::hooks {

class OwedDeletions {
 public:
  static constexpr std::size_t kMostBytes = UntoldDeletions::kMostBytes;  // of last states

  explicit OwedDeletions(std::size_t most_failed) : most_failed_(most_failed) {}

  // After what is owed of its name. An object that may only have left the selection, and has come
  // back and gone again, is owed once, as it was last.
  void add(Deleted deleted);
  bool has(const core::ObjectKey& key) const { return owed_.count(key) > 0; }
  // So many objects of that name have gone.
  std::size_t count(const core::ObjectKey& key) const;
  // The one to be told first; null where none is. Valid until the next call that changes anything.
  const Deleted* first(const core::ObjectKey& key) const;
  // Whether the first of them is this object, which may only have left the selection.
  bool only_left(const core::ObjectKey& key, const std::string& uid) const;
  // The first of them has not left the selection: the server has it no more.
  void confirm_gone(const core::ObjectKey& key);
  // Its run has ended without telling it: it waits for its next attempt, or is parked, and keeps
  // its place among those that have failed since. Returns whose last states are dropped for it:
  // the run is owed, its `previous` is not.
  std::vector<core::ObjectKey> fail(const core::ObjectKey& key);
  // The oldest of those that have failed and do not run now, where they are too many; never the
  // youngest.
  std::optional<core::ObjectKey> excess(
      const std::function<bool(const core::ObjectKey&)>& runs) const;
  // The first one is told, or given up. Its uid; "" where there was none.
  std::string end_first(const core::ObjectKey& key);
  // All of those names, which are not owed any more.
  std::vector<Deleted> take(const std::function<bool(const core::ObjectKey&)>& mine);

 private:
  struct Owed {
    std::deque<Deleted> of_name;
    std::uint64_t place = 0;  // in failed_, of the first of them; 0 = it has not failed
  };

  void forget_failure(Owed& owed);

  std::size_t most_failed_;
  std::unordered_map<core::ObjectKey, Owed, core::ObjectKeyHash> owed_;
  std::map<std::uint64_t, core::ObjectKey> failed_;  // by place, the oldest first
  std::set<std::uint64_t> with_state_;               // of failed_
  std::uint64_t last_place_ = 0;
  std::size_t bytes_ = 0;  // of the last states of failed_
};

}  // namespace kubewatch::hooks
