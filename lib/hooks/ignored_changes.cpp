// Changes that did not count.
#include "hooks/ignored_changes.hpp"

namespace kubewatch::hooks {

void IgnoredChanges::note(const core::ObjectKey& key, const std::string& resource_version,
                          TimePoint now) {
  if (auto* known = ignored_.find(key.str())) {
    *known = {resource_version, now};
    return;
  }
  ignored_.insert(key.str(), {resource_version, now});
  if (ignored_.size() <= kMost) return;
  const std::string oldest = *ignored_.oldest([](const Ignored&) { return true; });
  ignored_.erase(oldest);
}

std::optional<IgnoredChange> IgnoredChanges::find(const core::ObjectKey& key, TimePoint now) {
  const auto* ignored = ignored_.find(key.str());
  if (ignored == nullptr) return std::nullopt;
  return IgnoredChange{ignored->resource_version, now - ignored->at};
}

}  // namespace kubewatch::hooks
