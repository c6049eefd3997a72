#include "builtin/disabled_fields.hpp"

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "builtin/default_rules.hpp"
#include "builtin/device_writes.hpp"

namespace kubewatch::builtin {

namespace {

// One field, in the places where it may be: used in one of them, it is kept in all.
struct Dropped {
  std::vector<Path> parents;
  std::string_view key;
};
using DroppedFields = std::vector<Dropped>;

bool uses(const Json& object, const Dropped& dropped) {
  bool found = false;
  for (const Path parent : dropped.parents) {
    for_each_at(object, parent, [&](const Json& at) {
      found = found || (at.is_object() && !is_absent(at, dropped.key));
    });
  }
  return found;
}

void drop(const DroppedFields& fields, const Json* live, Json& object) {
  for (const Dropped& one : fields) {
    if (!uses(object, one) || (live != nullptr && uses(*live, one))) continue;
    for (const Path parent : one.parents) {
      for_each_at(object, parent, [&](Json& at) {
        if (at.is_object()) at.erase(std::string(one.key));
      });
    }
  }
}

// A lifecycle that says nothing else goes with it.
void drop_stop_signals(const Json* live, Json& spec) {
  static const Dropped lifecycles = {
      {"containers[].lifecycle", "initContainers[].lifecycle", "ephemeralContainers[].lifecycle"},
      "stopSignal"};
  if (!uses(spec, lifecycles) || (live != nullptr && uses(*live, lifecycles))) return;
  for (const Path list : {"containers[]", "initContainers[]", "ephemeralContainers[]"}) {
    for_each_at(spec, list, [](Json& container) {
      Json* lifecycle = base::find(container, {"lifecycle"});
      if (lifecycle == nullptr || is_absent(*lifecycle, "stopSignal")) return;
      lifecycle->erase("stopSignal");
      if (is_absent(*lifecycle, "postStart") && is_absent(*lifecycle, "preStop")) {
        container.erase("lifecycle");
      }
    });
  }
}

void drop_of_pod_spec(const Json* live, Json& spec) {
  static const DroppedFields fields = {
      {{""}, "schedulingGroup"},
      {{"volumes[].projected.sources[]"}, "clusterTrustBundle"},
      {{"volumes[].projected.sources[]"}, "podCertificate"},
  };
  drop(fields, live, spec);
  drop_stop_signals(live, spec);
}

// A source in another namespace.
void drop_far_source(const Json* live, Json& claim) {
  const Json* before = live == nullptr ? nullptr : base::find(*live, {"spec", "dataSourceRef"});
  if (before != nullptr && !before->is_null()) return;
  if (base::string_at(claim, {"spec", "dataSourceRef", "namespace"}).empty()) return;
  for_each_at(claim, "spec", [](Json& spec) { spec.erase("dataSourceRef"); });
}

// Secrets are told by their names alone.
void drop_all_but_names(Json& account) {
  for_each_at(account, "secrets[]", [](Json& secret) {
    const std::string name = base::string_at(secret, {"name"});
    secret = Json::object();
    if (!name.empty()) secret["name"] = name;
  });
}

// The spec of Pods; null where there is none.
template <typename AnyJson>
AnyJson* pod_spec(const std::string& storage_id, AnyJson& object) {
  static const std::set<std::string> templated = {"replicationcontrollers", "daemonsets.apps",
                                                  "deployments.apps",       "replicasets.apps",
                                                  "statefulsets.apps",      "jobs.batch"};
  if (storage_id == "pods") return base::find(object, {"spec"});
  if (storage_id == "podtemplates") return base::find(object, {"template", "spec"});
  if (storage_id == "cronjobs.batch") {
    return base::find(object, {"spec", "jobTemplate", "spec", "template", "spec"});
  }
  if (templated.count(storage_id) == 0) return nullptr;
  return base::find(object, {"spec", "template", "spec"});
}

const std::map<std::string, DroppedFields>& dropped_fields() {
  static const std::map<std::string, DroppedFields> all = {
      {"pods",
       {{{"status"}, "nodeAllocatableResourceClaimStatuses"},
        {{"status.containerStatuses[].volumeMounts[]",
          "status.initContainerStatuses[].volumeMounts[]",
          "status.ephemeralContainerStatuses[].volumeMounts[]"},
         "volumeStatus"}}},
      {"nodes", {{{"spec"}, "configSource"}, {{"status"}, "config"}}},
      {"statefulsets.apps", {{{"spec.updateStrategy.rollingUpdate"}, "maxUnavailable"}}},
      {"leases.coordination.k8s.io", {{{"spec"}, "strategy"}, {{"spec"}, "preferredHolder"}}},
      {"csidrivers.storage.k8s.io", {{{"spec"}, "preventPodSchedulingIfMissing"}}},
      {"endpointslices.discovery.k8s.io", {{{"endpoints[]"}, "deprecatedTopology"}}},
      {"resourceslices.resource.k8s.io", {{{"spec.devices[]"}, "nodeAllocatableResourceMappings"}}},
  };
  return all;
}

}  // namespace

void drop_disabled_fields(const std::string& storage_id, const Json* live, Json& object) {
  if (!object.is_object()) return;
  if (storage_id == "persistentvolumeclaims") drop_far_source(live, object);
  if (storage_id == "serviceaccounts") drop_all_but_names(object);
  if (storage_id == "resourceslices.resource.k8s.io") drop_attribute_lists(live, object);
  if (const auto table = dropped_fields().find(storage_id); table != dropped_fields().end()) {
    drop(table->second, live, object);
  }
  Json* spec = pod_spec(storage_id, object);
  if (spec == nullptr || !spec->is_object()) return;
  drop_of_pod_spec(live == nullptr ? nullptr : pod_spec(storage_id, *live), *spec);
}

}  // namespace kubewatch::builtin
