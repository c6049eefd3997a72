// Which runs wait until the caches show what the last ones of their objects have written: until
// when, whom to wake once it shows, and what was missed where it never does. Pure; the driver's,
// which tells it when a cache shows something, and looks once in a while.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks/expected_writes.hpp"

namespace kubewatch::hooks {

class OwnWriteWaits {
 public:
  using Views = ExpectedWrites::Views;

  // As ExpectedWrites::expect(), but for what the caches show already, whose event came first.
  void expect(const std::string& owner_uid, const core::ObjectKey& owner, ExpectedWrite write,
              const Views& views, TimePoint now);
  // There are writes that no cache shows yet.
  bool any() const { return !expected_.empty(); }
  bool has(const ChildId& id) const { return expected_.has(id); }
  bool is_reached(const ChildId& id, const std::string& resource_version) const {
    return expected_.is_reached(id, resource_version);
  }

  // Drop what the caches show, of one object or of all. Whose runs waited for it alone.
  std::vector<core::ObjectKey> settle(const ChildId& id, const Views& views) {
    return end_waits(expected_.settle(id, views));
  }
  std::vector<core::ObjectKey> settle(const Views& views) {
    return end_waits(expected_.settle(views));
  }
  // Drops what waited too long. Whose runs are to start without it.
  std::vector<core::ObjectKey> give_up(TimePoint now);
  // Nothing is waited for any more. Whose runs were.
  std::vector<core::ObjectKey> clear();

  // All that the runs of that object have written has waited too long: give_up() drops it.
  bool is_overdue(const std::string& uid, TimePoint now) const;
  // Its run is to start: until when that has to wait; absent: it need not.
  std::optional<TimePoint> wait(const core::ObjectKey& key, const std::string& uid);
  // Its run starts. One of the writes that were given up for it; "" = none was.
  std::string start(const core::ObjectKey& key);
  // No run of it is to come.
  void forget(const core::ObjectKey& key) { waiting_.erase(key); }
  // One of the writes that its run waits for.
  std::optional<ChildId> first_of(const core::ObjectKey& key) const;

  // What a rule that ends leaves to the one after it.
  ExpectedWrites leave() { return std::move(expected_); }
  void take_over(ExpectedWrites left, const Views& views);

 private:
  struct Waiting {
    std::string uid;
    std::string missed;  // one of the writes that were given up, "" = none was
  };

  std::vector<core::ObjectKey> end_waits(std::vector<core::ObjectKey> freed);

  ExpectedWrites expected_;
  std::unordered_map<core::ObjectKey, Waiting, core::ObjectKeyHash> waiting_;
};

}  // namespace kubewatch::hooks
