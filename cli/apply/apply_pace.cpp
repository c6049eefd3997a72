#include "cli/apply/apply_pace.hpp"

namespace kubewatch::cli {

namespace {

// A server next door answers eight at a time in half of this; one that is a city away does not.
constexpr Duration kSlow{12};

}  // namespace

void ApplyPace::note(Duration took) {
  ++noted_;
  spent_ += took;
  if (noted_ < limit_) return;  // not one answer to each of those in flight yet
  const bool slow = spent_ >= kSlow * noted_;
  noted_ = 0;
  spent_ = Duration{0};
  if (slow) limit_ = std::min(limit_ * 2, most_);
}

void ApplyPace::busy() {
  limit_ = std::max<std::size_t>(limit_ / 2, 1);
  noted_ = 0;
  spent_ = Duration{0};
}

}  // namespace kubewatch::cli
