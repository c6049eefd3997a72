#include "apiserver/local_api_services.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "apiserver/deleter.hpp"
#include "apiserver/step_guard.hpp"
#include "builtin/aggregation.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;
using builtin::kApiServices;

constexpr const char* kManaged = "kube-aggregator.kubernetes.io/automanaged";
constexpr const char* kOnStart = "onstart";
constexpr const char* kAlways = "true";

// Of groups and their versions, as the server has them.
struct GroupPriority {
  std::string_view group;
  std::string_view version;
  int of_group;
  int of_version;
};

constexpr int kFirstVersion = 15;
constexpr std::array kPriorities = {
    GroupPriority{"", "v1", 18000, 1},
    GroupPriority{"admissionregistration.k8s.io", "v1", 16700, kFirstVersion},
    GroupPriority{"apiextensions.k8s.io", "v1", 16700, kFirstVersion},
    GroupPriority{"apps", "v1", 17800, kFirstVersion},
    GroupPriority{"authentication.k8s.io", "v1", 17700, kFirstVersion},
    GroupPriority{"authorization.k8s.io", "v1", 17600, kFirstVersion},
    GroupPriority{"autoscaling", "v1", 17500, kFirstVersion},
    GroupPriority{"autoscaling", "v2", 17500, 30},
    GroupPriority{"batch", "v1", 17400, kFirstVersion},
    GroupPriority{"certificates.k8s.io", "v1", 17300, kFirstVersion},
    GroupPriority{"coordination.k8s.io", "v1", 16500, kFirstVersion},
    GroupPriority{"discovery.k8s.io", "v1", 16200, kFirstVersion},
    GroupPriority{"events.k8s.io", "v1", 17750, kFirstVersion},
    GroupPriority{"flowcontrol.apiserver.k8s.io", "v1", 16100, 21},
    GroupPriority{"networking.k8s.io", "v1", 17200, kFirstVersion},
    GroupPriority{"node.k8s.io", "v1", 16300, kFirstVersion},
    GroupPriority{"policy", "v1", 17100, kFirstVersion},
    GroupPriority{"rbac.authorization.k8s.io", "v1", 17000, kFirstVersion},
    GroupPriority{"resource.k8s.io", "v1", 16200, 21},
    GroupPriority{"scheduling.k8s.io", "v1", 16600, kFirstVersion},
    GroupPriority{"storage.k8s.io", "v1", 16800, kFirstVersion},
};
constexpr int kCustomGroup = 1000;
constexpr int kCustomVersion = 100;

std::string name_of(std::string_view version, std::string_view group) {
  return fmt::format("{}.{}", version, group);
}

Json spec_of(std::string_view group, std::string_view version, int of_group, int of_version) {
  Json out = {
      {"version", version}, {"groupPriorityMinimum", of_group}, {"versionPriority", of_version}};
  if (!group.empty()) out["group"] = group;
  return out;
}

Json spec_of(const core::Gvk& custom) {
  return spec_of(custom.group, custom.version, kCustomGroup, kCustomVersion);
}

Json api_service(const std::string& name, const char* managed, const Json& spec) {
  return {{"apiVersion", "apiregistration.k8s.io/v1"},
          {"kind", "APIService"},
          {"metadata", {{"name", name}, {"labels", {{kManaged, managed}}}}},
          {"spec", spec}};
}

}  // namespace

bool is_kept_registration(const Json& api_service) {
  return !string_at(api_service, {"metadata", "labels", kManaged}).empty();
}

WriteContext LocalApiServices::context_of(const std::string& name, WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_storage(kApiServices);
  context.name = name;
  context.manager = kApiServer;
  context.now = now;
  return context;
}

// The aggregator's own group has none.
void LocalApiServices::create(WallTime now) {
  for (const GroupPriority& one : kPriorities) {
    const std::string name = name_of(one.version, one.group);
    const Json spec = spec_of(one.group, one.version, one.of_group, one.of_version);
    (void)writer_.create(context_of(name, now), api_service(name, kOnStart, spec));
  }
  queue_.clear();
}

void LocalApiServices::on_event(const std::string& storage_id, const EventPtr& event) {
  if (storage_id == kApiServices) queue_.insert(event->object->name());
}

void LocalApiServices::on_kinds_changed() {
  std::map<std::string, core::Gvk> now;
  for (const ResourcePtr& one : registry_.all()) {
    if (!one->custom) continue;
    const core::Gvk& gvk = one->type.gvk;
    now.try_emplace(name_of(gvk.version, gvk.group), gvk);
  }
  for (const auto* side : {&wanted_, &now}) {
    for (const auto& [name, gvk] : *side) {
      if (wanted_.count(name) != now.count(name)) queue_.insert(name);
    }
  }
  wanted_ = std::move(now);
}

// What somebody else has made is left alone, and so are those of built-in kinds, which are looked
// after only at the start.
void LocalApiServices::settle(const std::string& name, WallTime now) {
  const auto wanted = wanted_.find(name);
  const WriteContext context = context_of(name, now);
  const ObjectPtr live = storage_.get(kApiServices, object_key("", name));
  if (!live) {
    if (wanted == wanted_.end()) return;
    (void)writer_.create(context, api_service(name, kAlways, spec_of(wanted->second)));
    return;
  }
  if (string_at(live->json(), {"metadata", "labels", kManaged}) != kAlways) return;
  if (wanted == wanted_.end()) {
    (void)delete_object(storage_, context, {});
    return;
  }
  (void)writer_.change(context, [&](Json& object) {
    const Json spec = spec_of(wanted->second);
    if (object["spec"] == spec) return false;
    object["spec"] = spec;
    return true;
  });
}

bool LocalApiServices::step(WallTime now) {
  if (queue_.empty()) return false;
  const std::string name = *queue_.begin();
  queue_.erase(queue_.begin());
  guarded(kApiServices, name, [&] { settle(name, now); });
  return true;
}

}  // namespace kubewatch::apiserver
