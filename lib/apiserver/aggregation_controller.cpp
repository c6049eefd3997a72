#include "apiserver/aggregation_controller.hpp"

#include <vector>

#include "apiserver/step_guard.hpp"
#include "builtin/aggregation.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;
using builtin::kApiServices;

constexpr const char* kSlices = "endpointslices.discovery.k8s.io";
constexpr const char* kServiceOfSlice = "kubernetes.io/service-name";

std::string service_of(const Object& slice) {
  return string_at(slice.json(), {"metadata", "labels", kServiceOfSlice});
}

}  // namespace

void AggregationController::on_event(const std::string& storage_id, const EventPtr& event) {
  const Object& object = *event->object;
  if (storage_id == kApiServices) {
    if (event->type != EventType::deleted) queue_.insert(object.name());
  } else if (storage_id == "services") {
    queue_of_service(object.namespace_(), object.name());
  } else if (storage_id == kSlices) {
    queue_of_service(object.namespace_(), service_of(object));
    if (event->previous) queue_of_service(object.namespace_(), service_of(*event->previous));
  }
}

void AggregationController::queue_of_service(const std::string& namespace_,
                                             const std::string& name) {
  storage_.each(kApiServices, "", "", [&](const ObjectPtr& one) {
    const Json& json = one->json();
    if (string_at(json, {"spec", "service", "name"}) == name &&
        string_at(json, {"spec", "service", "namespace"}) == namespace_) {
      queue_.insert(one->name());
    }
    return true;
  });
}

Json AggregationController::condition_of(const Json& api_service) const {
  const std::string ns = string_at(api_service, {"spec", "service", "namespace"});
  const std::string name = string_at(api_service, {"spec", "service", "name"});
  const ObjectPtr service = storage_.get("services", object_key(ns, name));
  std::vector<ObjectPtr> kept;
  storage_.each(kSlices, ns + "/", "", [&](const ObjectPtr& slice) {
    if (service_of(*slice) == name) kept.push_back(slice);
    return true;
  });
  std::vector<const Json*> slices;
  for (const auto& slice : kept) slices.push_back(&slice->json());
  return builtin::availability(api_service, service ? &service->json() : nullptr, slices);
}

bool AggregationController::step(WallTime now) {
  if (queue_.empty()) return false;
  WriteContext context;
  context.name = *queue_.begin();
  queue_.erase(queue_.begin());
  context.resource = registry_.find_storage(kApiServices);
  context.subresource = "status";
  context.manager = kApiServer;
  context.now = now;
  guarded(kApiServices, context.name, [&] {
    (void)writer_.change(context, [&](Json& object) {
      return builtin::set_availability(object, condition_of(object), base::format_rfc3339(now));
    });
  });
  return true;
}

}  // namespace kubewatch::apiserver
