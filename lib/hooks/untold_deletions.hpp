// Deletions whose onDelete is another instance's to run: kept for the time in which that one may
// end before it gets to them, so that whoever leads next can. An instance may stand by for weeks:
// what is older, or too much, is forgotten. Pure; the driver's.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/resource.hpp"
#include "runtime/store.hpp"

namespace kubewatch::hooks {

// Gone, and onDelete has yet to run for it.
struct Deleted {
  runtime::StoredObject last;
  bool may_have_left = false;  // the selection, as far as its watch tells
  bool unjudged = false;       // the rule's filter failed on it: it may never have matched
};

class UntoldDeletions {
 public:
  static constexpr std::size_t kMostObjects = 10000;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;  // of last states

  explicit UntoldDeletions(Duration kept) : kept_(kept) {}

  // The oldest go for it where there are too many; where their last states are too large, these go.
  void note(Deleted deleted, TimePoint now);
  // This instance has told it after all.
  void told(const core::ObjectKey& key, const std::string& uid);
  // Those that are `mine`, in the order in which they went; they are not kept any more.
  std::vector<Deleted> take(const std::function<bool(const core::ObjectKey&)>& mine, TimePoint now);
  std::size_t size() const { return noted_.size(); }

 private:
  struct Noted {
    Deleted deleted;
    TimePoint at;
  };

  void forget_old(TimePoint now);
  void drop_oldest();

  Duration kept_;
  std::deque<Noted> noted_;  // the oldest first
  std::size_t bare_ = 0;     // so many of the oldest have lost their last states
  std::size_t bytes_ = 0;
};

}  // namespace kubewatch::hooks
