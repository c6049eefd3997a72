#include "apiserver/initial_objects.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "apiserver/service_ips.hpp"
#include "apiserver/status.hpp"
#include "base/strings.hpp"
#include "builtin/bootstrap_policy.hpp"
#include "builtin/system_priorities.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr std::array<std::string_view, 4> kInitialNamespaces = {"kube-system", "kube-public",
                                                                "kube-node-lease", "default"};

constexpr const char* kServiceRange = "kubernetes";

std::vector<Json> first_objects() {
  std::vector<Json> out;
  for (const std::string_view name : kInitialNamespaces) {
    out.push_back({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
  for (const builtin::SystemPriority& one : builtin::kSystemPriorities) {
    out.push_back({{"apiVersion", "scheduling.k8s.io/v1"},
                   {"kind", "PriorityClass"},
                   {"metadata", {{"name", one.name}}},
                   {"value", one.value},
                   {"description", one.description}});
  }
  return out;
}

Json service_range() {
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "ServiceCIDR"},
          {"metadata", {{"name", kServiceRange}}},
          {"spec", {{"cidrs", Json::array({kServiceCidr})}}}};
}

std::string key_of(const Json& object) {
  return base::join(
      {string_at(object, {"apiVersion"}), string_at(object, {"kind"}),
       string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"})},
      " ");
}

}  // namespace

// `object` is one of ours, whose kind is served.
WriteContext InitialObjects::context_of(const Json& object, const std::string& manager,
                                        WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_kind(core::gvk_of(object).value());
  if (context.resource->type.namespaced) {
    context.namespace_ = string_at(object, {"metadata", "namespace"});
  }
  context.manager = manager;
  context.now = now;
  return context;
}

void InitialObjects::make(const std::vector<Json>& objects, WallTime now) {
  for (const Json& object : objects) {
    made_.insert(key_of(object));
    (void)writer_.create(context_of(object, kApiServer, now), object);
  }
}

void InitialObjects::create(bool whole_cluster, WallTime now) {
  make(first_objects(), now);
  if (!whole_cluster) return;
  make({service_range()}, now);
  apply_range_status(now);
  make(builtin::bootstrap_policy(), now);
}

void InitialObjects::apply_range_status(WallTime now) {
  Json range = service_range();
  WriteContext context = context_of(range, "kubernetes-service-cidr-controller", now);
  context.name = kServiceRange;
  context.subresource = "status";
  range.erase("spec");
  const Json ready = {{"type", "Ready"},
                      {"status", "True"},
                      {"lastTransitionTime", base::format_rfc3339(now)},
                      {"message", "Kubernetes default Service CIDR is ready"}};
  range["status"] = {{"conditions", Json::array({ready})}};
  (void)writer_.apply(context, std::move(range));
}

bool InitialObjects::has(const Json& object) const {
  return made_.count(key_of(object)) != 0;
}

Result<void> InitialObjects::add(const Json& object, const std::string& manager, WallTime now) {
  Json patch = Json::object();
  for (const char* members : {"labels", "annotations"}) {
    const Json* given = base::find(object, {"metadata", members});
    if (given != nullptr && !given->is_null()) patch["metadata"][members] = *given;
  }
  for (const char* member : {"aggregationRule", "rules", "subjects"}) {
    const Json* given = base::find(object, {member});
    if (given != nullptr && !given->is_null()) patch[member] = *given;
  }
  WriteContext context = context_of(object, manager, now);
  context.name = string_at(object, {"metadata", "name"});
  KW_TRY(writer_.patch(context, core::PatchType::merge, patch));
  return {};
}

}  // namespace kubewatch::apiserver
