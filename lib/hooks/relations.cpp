// An index that remembers on which objects its program fails.
#include "hooks/relations.hpp"

#include <algorithm>

namespace kubewatch::hooks {

void Relations::set(const core::ObjectKey& source,
                    const Result<std::vector<core::ObjectKey>>& targets, TimePoint now) {
  if (!targets.ok()) {
    failures_[source] = {targets.error().render(), now};
    return;
  }
  failures_.erase(source);
  index_.set(source, *targets);
}

void Relations::forget(const core::ObjectKey& source) {
  failures_.erase(source);
  index_.set(source, {});
}

std::string Relations::failure_of(const core::ObjectKey& source) const {
  const auto it = failures_.find(source);
  return it == failures_.end() ? "" : it->second.why;
}

std::string Relations::any_failure() const {
  return failures_.empty() ? "" : failures_.begin()->second.why;
}

std::optional<core::ObjectKey> Relations::tried_longest_ago() const {
  const auto it = std::min_element(
      failures_.begin(), failures_.end(),
      [](const auto& a, const auto& b) { return a.second.tried < b.second.tried; });
  return it == failures_.end() ? std::nullopt : std::optional(it->first);
}

}  // namespace kubewatch::hooks
