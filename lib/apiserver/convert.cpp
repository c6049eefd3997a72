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

}  // namespace

Json to_served(const Resource& resource, Json stored) {
  if (resource.converted()) {
    for (const auto& [core, events] : kEventFields) rename(stored, core, events);
  }
  stored["apiVersion"] = resource.type.gvk.api_version();
  stored["kind"] = resource.type.gvk.kind;
  return stored;
}

Json to_stored(const Resource& resource, Json served) {
  if (resource.converted()) {
    for (const auto& [core, events] : kEventFields) rename(served, events, core);
  }
  served["apiVersion"] = resource.storage_gvk.api_version();
  served["kind"] = resource.storage_gvk.kind;
  return served;
}

}  // namespace kubewatch::apiserver
