// What the writers of one rule share: the client, the rule, and what the rule's caches know of
// children. implemented by driver; everything outlives the writers.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "hooks/child_memory.hpp"
#include "hooks/ownership.hpp"
#include "hooks/rule.hpp"
#include "hooks/secret_mask.hpp"
#include "hooks/status_shape.hpp"
#include "hooks/unknown_kinds.hpp"

namespace kubewatch::hooks {

struct FoundChild {
  core::ResourceType type;
  core::ObjectMeta meta;
};

class WriteContext {
 public:
  virtual ~WriteContext() = default;
  virtual client::Client& client() = 0;
  virtual const Rule& rule() const = 0;
  virtual const core::ResourceType& owner_type() const = 0;
  virtual ChildMemory& memory() = 0;
  virtual UnknownKinds& unknown_kinds() = 0;

  // The child as an `owns` cache has it. Absent: not watched, not there, without our controller
  // label, or the cache is behind.
  virtual std::optional<core::ObjectMeta> cached_child(const ChildId& id) const = 0;
  // Its deletion is seen and runs the owner again. `object_json`: the child as it is now.
  virtual bool deletion_wakes(const ChildId& id, const std::string& object_json) const = 0;
  // resourceVersion of the owner as its cache has it; "" when it is not there.
  virtual std::string owner_version(const Owner& owner) const = 0;
  // Children with this owner's label in the caches.
  virtual std::vector<FoundChild> cached_children(const std::string& owner_uid) const = 0;
  // Kinds (and namespaces, "" = all) where children may be that no cache shows.
  struct Unwatched {
    core::ResourceType type;
    std::string namespace_;
  };
  // `stale`: also where a cache that is behind may not show yet what others have made;
  // `referring_too`: also where all children refer to the owner. Asks the
  // server again for declared kinds that it did not have at the start. Errors: unavailable (one of
  // them cannot be looked for now: its children could be forgotten).
  virtual void with_unwatched_places(const Owner& owner, bool stale, bool referring_too,
                                     std::function<void(Result<std::vector<Unwatched>>)> done) = 0;
  // Another instance may have run the owner before us, up to a moment ago: what it has made is in
  // no memory of ours, and in a cache only once its event has come.
  virtual bool may_follow_another(const Owner& owner) const = 0;
  // A run of the owner has written the object, which is `left` now; the owner's next run waits
  // until the caches that select it show that.
  virtual void expect(const Owner& owner, const ChildId& id, const core::ObjectMeta& left) = 0;
  // It has deleted what was read as `was`. `answer`: the object in the server's answer, if it has
  // one.
  virtual void expect_gone(const Owner& owner, const ChildId& id, const core::ObjectMeta& was,
                           const core::ObjectMeta& answer) = 0;
  // We changed the owner's finalizers: until the cache shows this version, it is stale.
  virtual void finalizer_patched(const Owner& owner, const std::string& resource_version) = 0;

  // Of all rules that are loaded now, the field managers.
  virtual std::set<std::string> rule_managers() const { return {rule().apply.field_manager}; }

  // What the owner's schema said of conditions at `oldest` or later.
  virtual void with_status_shape(TimePoint oldest,
                                 std::function<void(const StatusShape&)> done) = 0;
};

}  // namespace kubewatch::hooks
