// Keeps one IPAddress for each address that a Service has, as the allocator of a kube-apiserver
// does. Who gets which address is service_ips.hpp. Fed with events; no I/O, no clock.
#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class IpAddresses {
 public:
  IpAddresses(Storage& storage, const Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  void on_event(const std::string& storage_id, const EventPtr& event);
  // Works on one address; false when there is nothing to do.
  bool step(WallTime now);

 private:
  void settle(const std::string& ip, WallTime now);

  Storage& storage_;
  const Registry& registry_;
  Writer& writer_;
  std::map<std::string, ObjectPtr> holders_;  // Services, by address
  std::set<std::string> queue_;
};

// Whether an IPAddress is one of those.
bool is_kept_address(const Json& address);

}  // namespace kubewatch::apiserver
