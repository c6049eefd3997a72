#include "apiserver/convert.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "builtin/convert_autoscaling.hpp"

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

// What only the older group says of nobody.
void drop_no_reporter(Json& event) {
  for (const char* key : {"reportingController", "reportingInstance"}) {
    if (event.value(key, Json()) == "") event.erase(key);
  }
}

// It is kept by whoever set it, and by an ExternalName it is not shown.
void drop_traffic_policy(const Resource& resource, Json& service) {
  if (resource.storage_id != "services") return;
  Json* spec = base::find(service, {"spec"});
  if (spec == nullptr || base::string_at(*spec, {"type"}) != "ExternalName") return;
  spec->erase("internalTrafficPolicy");
}

bool is_converted_autoscaler(const Resource& resource) {
  return is_autoscaler(resource) && resource.converted();
}

}  // namespace

bool is_autoscaler(const Resource& resource) {
  return resource.storage_id == builtin::kAutoscalers;
}

bool is_converted(const Resource& resource, const std::string& stored_version) {
  return resource.custom ? stored_version != resource.type.gvk.api_version() : resource.converted();
}

Json to_served(const Resource& resource, Json stored) {
  if (is_converted_autoscaler(resource)) return builtin::autoscaler_to_v1(std::move(stored));
  const bool prune =
      resource.custom && is_converted(resource, base::string_at(stored, {"apiVersion"}));
  if (is_event(resource)) {
    for (const auto& [core, events] : kEventFields) rename(stored, core, events);
    drop_no_reporter(stored);
  }
  stored["apiVersion"] = resource.type.gvk.api_version();
  stored["kind"] = resource.type.gvk.kind;
  if (prune) resource.custom->compiled->prune(stored);
  return stored;
}

Json to_stored(const Resource& resource, Json served) {
  if (is_converted_autoscaler(resource)) return builtin::autoscaler_to_v2(std::move(served));
  if (is_event(resource)) {
    for (const auto& [core, events] : kEventFields) rename(served, events, core);
    for (const char* key : {"reportingComponent", "reportingInstance"}) served.emplace(key, "");
  }
  served["apiVersion"] = resource.storage_gvk.api_version();
  served["kind"] = resource.storage_gvk.kind;
  drop_traffic_policy(resource, served);
  if (!resource.custom) return served;
  const auto& stored = resource.custom->stored;
  if (stored) stored->prune(served);
  // As if read again: a new object has lost its status, and that has defaults too.
  (stored ? *stored : *resource.custom->compiled).apply_defaults(served);
  return served;
}

core::FieldSelector to_stored(const Resource& resource, const core::FieldSelector& served) {
  if (!is_event(resource)) return served;
  return served.with_each([](core::FieldRequirement& one) {
    const auto dot = std::min(one.path.find('.'), one.path.size());
    for (const auto& [core, events] : kEventFields) {
      if (one.path.compare(0, dot, events) != 0) continue;
      one.path = core + one.path.substr(dot);
      return;
    }
  });
}

}  // namespace kubewatch::apiserver
