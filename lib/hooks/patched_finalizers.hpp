// What the cache does not show yet of the finalizers that were patched: which objects wait for it,
// and how long. Pure; the driver's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/time.hpp"
#include "core/meta.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

class PatchedFinalizers {
 public:
  // Until the cache has to show what was done.
  static constexpr Duration kPatience{10000};

  enum class Shown {
    yes,      // or nothing is known of it
    not_yet,  // its event comes, and wakes the object
    // It should be gone by now, or free of the finalizer: what the cache has is no reason to
    // finalize it once more. Only of what is deleted.
    overdue,
  };

  explicit PatchedFinalizers(std::string finalizer) : finalizer_(std::move(finalizer)) {}

  // Of the object that the cache shows as `shown` the finalizer was put on, or taken off (always
  // where it is `dying`); the server has it as `resource_version` now. False where the cache shows
  // that.
  bool note(const core::ObjectMeta& shown, std::string resource_version, bool dying, TimePoint now);
  // As the cache shows it now. What need not be waited for any longer is forgotten.
  Shown look(const core::ObjectMeta& shown, TimePoint now);
  // Of an object, at least, that has not run since its finalizer was put on: its event is waited
  // for, however long it takes.
  bool any_added() const { return added_ > 0; }
  const std::string& finalizer() const { return finalizer_; }
  void forget(const core::ObjectKey& key);
  // Forgets the living, and what is not there.
  void keep_dying(const std::function<bool(const core::ObjectKey&)>& is_there);
  void clear();

 private:
  struct Patched {
    std::string uid;
    std::string resource_version;
    TimePoint since;
    bool dying = false;
    bool added = false;
  };

  using ByKey = std::unordered_map<core::ObjectKey, Patched, core::ObjectKeyHash>;

  bool is_before(const core::ObjectMeta& shown, const Patched& patched) const;
  void erase(ByKey::iterator it);

  std::string finalizer_;
  ByKey patched_;
  std::size_t added_ = 0;  // of these
};

}  // namespace kubewatch::hooks
