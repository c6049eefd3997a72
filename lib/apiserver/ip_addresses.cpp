#include "apiserver/ip_addresses.hpp"

#include "apiserver/deleter.hpp"
#include "apiserver/service_ips.hpp"
#include "apiserver/step_guard.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr const char* kAddresses = "ipaddresses.networking.k8s.io";
constexpr const char* kManagedBy = "ipaddress.kubernetes.io/managed-by";
constexpr const char* kAllocator = "ipallocator.k8s.io";

Json address_of(const std::string& ip, const Object& service) {
  const bool v6 = ip.find(':') != std::string::npos;
  return {
      {"apiVersion", "networking.k8s.io/v1"},
      {"kind", "IPAddress"},
      {"metadata",
       {{"name", ip},
        {"labels",
         {{"ipaddress.kubernetes.io/ip-family", v6 ? "IPv6" : "IPv4"}, {kManagedBy, kAllocator}}}}},
      {"spec",
       {{"parentRef",
         {{"resource", "services"},
          {"namespace", service.namespace_()},
          {"name", service.name()}}}}}};
}

}  // namespace

bool is_kept_address(const Json& address) {
  return string_at(address, {"metadata", "labels", kManagedBy}) == kAllocator;
}

void IpAddresses::on_event(const std::string& storage_id, const EventPtr& event) {
  if (storage_id == kAddresses) {
    queue_.insert(event->object->name());
    return;
  }
  if (storage_id != "services") return;
  if (event->previous) {
    for (const std::string& ip : ips_of_service(event->previous->json())) {
      const auto holder = holders_.find(ip);
      if (holder == holders_.end() || holder->second->key() != event->object->key()) continue;
      holders_.erase(holder);
      queue_.insert(ip);
    }
  }
  if (event->type == EventType::deleted) return;
  for (const std::string& ip : ips_of_service(event->object->json())) {
    holders_[ip] = event->object;
    queue_.insert(ip);
  }
}

void IpAddresses::settle(const std::string& ip, WallTime now) {
  const auto holder = holders_.find(ip);
  const ObjectPtr live = storage_.get(kAddresses, object_key("", ip));
  if ((holder != holders_.end()) == (live != nullptr)) return;
  WriteContext context;
  context.resource = registry_.find_storage(kAddresses);
  context.manager = kApiServer;
  context.now = now;
  if (live == nullptr) {
    (void)writer_.create(context, address_of(ip, *holder->second));
  } else if (is_kept_address(live->json())) {
    context.name = ip;
    (void)delete_object(storage_, context, {});
  }
}

bool IpAddresses::step(WallTime now) {
  if (queue_.empty()) return false;
  const std::string ip = *queue_.begin();
  queue_.erase(queue_.begin());
  guarded(kAddresses, ip, [&] { settle(ip, now); });
  return true;
}

}  // namespace kubewatch::apiserver
