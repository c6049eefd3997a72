// The last change of each object that its rule did not count, of the objects where that was latest,
// for `explain`. Pure; the driver's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/resource.hpp"
#include "hooks/explain.hpp"
#include "runtime/lru_map.hpp"

namespace kubewatch::hooks {

class IgnoredChanges {
 public:
  static constexpr std::size_t kMost = 1000;

  void note(const core::ObjectKey& key, const std::string& resource_version, TimePoint now);
  // Counts as use of it: it stays longer.
  std::optional<IgnoredChange> find(const core::ObjectKey& key, TimePoint now);

 private:
  struct Ignored {
    std::string resource_version;
    TimePoint at;
  };

  runtime::LruMap<Ignored> ignored_;
};

}  // namespace kubewatch::hooks
