// What the runs of a rule have written, and its caches do not show yet: until they do, the engine
// is not idle, and the next run of the same object waits, for it would read what was there before.
// A write that never shows (its watch is broken, or another write came right after it in a way we
// cannot order) is given up after a while. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/meta.hpp"
#include "hooks/ownership.hpp"

namespace kubewatch::hooks {

// What a cache has of an object that it selects.
struct CacheView {
  std::optional<core::ObjectMeta> object;
  std::string up_to;  // the resourceVersion up to which the cache is exact
};

struct ExpectedWrite {
  ChildId id;
  std::string resource_version;  // after the write; "" = it was deleted
  std::string uid;               // of what was deleted
  // After the write, or before it was deleted: which caches select it.
  std::vector<std::pair<std::string, std::string>> labels;

  // `views`: of all caches that select it. Without any there is nothing to wait for.
  bool is_shown(const std::vector<CacheView>& views) const;
};

class ExpectedWrites {
 public:
  static constexpr Duration kPatience{5000};
  using Views = std::function<std::vector<CacheView>(const ExpectedWrite&)>;

  explicit ExpectedWrites(Duration patience = kPatience) : patience_(patience) {}

  // A run of the object of that name and uid has written it. Takes the place of what it wrote there
  // before.
  void expect(const std::string& owner_uid, const core::ObjectKey& owner, ExpectedWrite write,
              TimePoint now);
  bool has(const ChildId& id) const { return open_.count(id) > 0; }
  // A state of that version is the one that is expected, or comes after it.
  bool is_reached(const ChildId& id, const std::string& resource_version) const;

  // Drop what the caches show, of one object or of all. Whose runs need not wait any longer.
  std::vector<core::ObjectKey> settle(const ChildId& id, const Views& views);
  std::vector<core::ObjectKey> settle(const Views& views);

  struct Missed {
    core::ObjectKey owner;
    std::string owner_uid;
    ChildId id;
  };
  // Drops what waited too long.
  std::vector<Missed> expire(TimePoint now);

  bool empty() const { return open_.empty(); }
  // Of what the runs of this object have written: when all of it is given up, if it does not show.
  std::optional<TimePoint> until(const std::string& owner_uid) const;
  // One of the things that it waits for.
  std::optional<ChildId> first_of(const std::string& owner_uid) const;

 private:
  struct Entry {
    ExpectedWrite write;
    TimePoint since;
  };
  using PerOwner = std::map<std::string, Entry>;  // by uid: several may patch one object
  using Open = std::map<ChildId, PerOwner>;
  struct Owner {
    core::ObjectKey key;
    std::size_t open = 0;
    TimePoint last;  // when something was expected
  };

  // The owner, where it waits for nothing any more.
  std::optional<core::ObjectKey> end_one(const std::string& owner_uid);
  void settle(PerOwner& of, const Views& views, std::vector<core::ObjectKey>& freed);

  Duration patience_;
  Open open_;
  std::unordered_map<std::string, Owner> owners_;  // by uid
};

}  // namespace kubewatch::hooks
