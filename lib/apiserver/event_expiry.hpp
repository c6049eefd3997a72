// Takes Events away some time after their last write, as the lease does under which the etcd of a
// cluster has them (--event-ttl). Fed with events; no I/O, no clock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "apiserver/storage.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

class EventExpiry {
 public:
  // `ttl`: 0 = Events stay.
  EventExpiry(Storage& storage, Duration ttl) : storage_(storage), ttl_(ttl) {}

  void on_event(const std::string& storage_id, const EventPtr& event, WallTime now);
  // Takes some of those that are due; true while there are more.
  bool step(WallTime now);

 private:
  void forget(const std::string& key);
  bool is_due(WallTime now) const;

  Storage& storage_;
  Duration ttl_;
  std::map<std::string, WallTime> ends_;               // by key
  std::set<std::pair<WallTime, std::string>> by_end_;  // the same by time
};

}  // namespace kubewatch::apiserver
