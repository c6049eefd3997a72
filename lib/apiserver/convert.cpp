#include "apiserver/convert.hpp"

#include <array>
#include <utility>

namespace kubewatch::apiserver {

namespace {

// core/v1 Event field, events.k8s.io/v1 field.
constexpr std::array<std::pair<const char*, const char*>, 7> kEventFields = {{
    {"message", "note"},
    {"involvedObject", "regarding"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
}};

void rename(Json& object, const char* from, const char* to) {
  const auto it = object.find(from);
  if (it == object.end()) return;
  Json value = std::move(*it);
  object.erase(it);
  object[to] = std::move(value);
}

bool is_event(const Resource& resource) {
  return resource.storage_gvk.group != resource.type.gvk.group;
}

}  // namespace

Json to_served(const Resource& resource, Json stored) {
  if (is_event(resource)) {
    for (const auto& [core, events] : kEventFields) rename(stored, core, events);
  }
  stored["apiVersion"] = resource.type.gvk.api_version();
  stored["kind"] = resource.type.gvk.kind;
  if (resource.custom && resource.custom->stored) resource.custom->compiled->prune(stored);
  return stored;
}

Json to_stored(const Resource& resource, Json served) {
  if (is_event(resource)) {
    for (const auto& [core, events] : kEventFields) rename(served, events, core);
  }
  served["apiVersion"] = resource.storage_gvk.api_version();
  served["kind"] = resource.storage_gvk.kind;
  if (resource.custom && resource.custom->stored) {
    resource.custom->stored->prune(served);
    resource.custom->stored->apply_defaults(served);
  }
  return served;
}

}  // namespace kubewatch::apiserver
