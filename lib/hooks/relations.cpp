// An index that remembers on which objects its program fails.
#include "hooks/relations.hpp"

namespace kubewatch::hooks {

void Relations::set(const core::ObjectKey& source,
                    const Result<std::vector<core::ObjectKey>>& targets) {
  if (!targets.ok()) {
    failures_[source] = targets.error().render();
    return;
  }
  failures_.erase(source);
  index_.set(source, *targets);
}

std::string Relations::failure_of(const core::ObjectKey& source) const {
  const auto it = failures_.find(source);
  return it == failures_.end() ? "" : it->second;
}

std::string Relations::any_failure() const {
  return failures_.empty() ? "" : failures_.begin()->second;
}

}  // namespace kubewatch::hooks
