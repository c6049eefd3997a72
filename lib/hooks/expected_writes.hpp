// Own writes that the caches have not shown yet: until they did, the engine is not idle. A write
// that never shows (another write came right after it in a way we cannot order) is given up after a
// while. Pure.
#pragma once

#include <map>
#include <string>

#include "base/time.hpp"
#include "hooks/ownership.hpp"

namespace kubewatch::hooks {

class ExpectedWrites {
 public:
  explicit ExpectedWrites(Duration patience = Duration{5000}) : patience_(patience) {}
  void expect(const ChildId& id, const std::string& resource_version, TimePoint now);
  // The cache shows this version: it or a later one settles the expectation. True: it did.
  bool seen(const ChildId& id, const std::string& resource_version);
  void forget(const ChildId& id) { open_.erase(id); }
  bool empty() const { return open_.empty(); }
  // Drops what waited too long; true when something was dropped.
  bool expire(TimePoint now);

 private:
  struct Entry {
    std::string version;
    TimePoint since;
  };
  Duration patience_;
  std::map<ChildId, Entry> open_;
};

// resourceVersions of one server compare as integers (KEP-5504); others only for equality.
bool at_least_version(const std::string& seen, const std::string& wanted);

}  // namespace kubewatch::hooks
