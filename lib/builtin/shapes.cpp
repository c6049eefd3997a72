// The half of defaults.hpp that says what objects of a kind always show, set or not: what
// Go's encoder does not leave out. Not what it always shows of items of lists.
#include <map>
#include <string>

#include "builtin/default_rules.hpp"
#include "builtin/defaults.hpp"
#include "builtin/defaults_kinds.hpp"

namespace kubewatch::builtin {

namespace {

using Shapes = std::map<std::string, DefaultRules>;

Shapes core_shapes() {
  return {
      {"pods", {{"spec", "{}"}, {"status", "{}"}}},
      {"podtemplates", {{"template", "{}"}, {"template.metadata", "{}"}, {"template.spec", "{}"}}},
      {"replicationcontrollers", {{"spec", "{}"}, {"status", "{}"}, {"status.replicas", "0"}}},
      {"services", {{"spec", "{}"}, {"status", "{}"}, {"status.loadBalancer", "{}"}}},
      {"persistentvolumes", {{"spec", "{}"}, {"status", "{}"}}},
      {"persistentvolumeclaims", {{"spec", "{}"}, {"spec.resources", "{}"}, {"status", "{}"}}},
      {"nodes",
       {{"spec", "{}"},
        {"status", "{}"},
        {"status.daemonEndpoints", "{}"},
        {"status.daemonEndpoints.kubeletEndpoint", "{}"},
        {"status.daemonEndpoints.kubeletEndpoint.Port", "0"},
        {"status.nodeInfo", "{}"},
        {"status.nodeInfo.machineID", R"("")"},
        {"status.nodeInfo.systemUUID", R"("")"},
        {"status.nodeInfo.bootID", R"("")"},
        {"status.nodeInfo.kernelVersion", R"("")"},
        {"status.nodeInfo.osImage", R"("")"},
        {"status.nodeInfo.containerRuntimeVersion", R"("")"},
        {"status.nodeInfo.kubeletVersion", R"("")"},
        {"status.nodeInfo.kubeProxyVersion", R"("")"},
        {"status.nodeInfo.operatingSystem", R"("")"},
        {"status.nodeInfo.architecture", R"("")"}}},
      {"namespaces", {{"spec", "{}"}, {"status", "{}"}}},
      {"resourcequotas", {{"spec", "{}"}, {"status", "{}"}}},
      {"limitranges", {{"spec", "{}"}, {"spec.limits", "null"}}},
  };
}

Shapes workload_shapes() {
  return {
      {"daemonsets.apps",
       {{"spec", "{}"},
        {"spec.template", "{}"},
        {"spec.template.metadata", "{}"},
        {"spec.template.spec", "{}"},
        {"spec.updateStrategy", "{}"},
        {"status", "{}"},
        {"status.currentNumberScheduled", "0"},
        {"status.numberMisscheduled", "0"},
        {"status.desiredNumberScheduled", "0"},
        {"status.numberReady", "0"}}},
      {"deployments.apps",
       {{"spec", "{}"},
        {"spec.template", "{}"},
        {"spec.template.metadata", "{}"},
        {"spec.template.spec", "{}"},
        {"spec.strategy", "{}"},
        {"status", "{}"}}},
      {"replicasets.apps",
       {{"spec", "{}"},
        {"spec.template", "{}"},
        {"spec.template.metadata", "{}"},
        {"spec.template.spec", "{}"},
        {"status", "{}"},
        {"status.replicas", "0"}}},
      {"statefulsets.apps",
       {{"spec", "{}"},
        {"spec.serviceName", R"("")"},
        {"spec.template", "{}"},
        {"spec.template.metadata", "{}"},
        {"spec.template.spec", "{}"},
        {"spec.updateStrategy", "{}"},
        {"status", "{}"},
        {"status.replicas", "0"},
        {"status.availableReplicas", "0"}}},
      {"cronjobs.batch",
       {{"spec", "{}"},
        {"spec.jobTemplate", "{}"},
        {"spec.jobTemplate.metadata", "{}"},
        {"spec.jobTemplate.spec", "{}"},
        {"spec.jobTemplate.spec.template", "{}"},
        {"spec.jobTemplate.spec.template.metadata", "{}"},
        {"spec.jobTemplate.spec.template.spec", "{}"},
        {"status", "{}"}}},
      {"jobs.batch",
       {{"spec", "{}"},
        {"spec.template", "{}"},
        {"spec.template.metadata", "{}"},
        {"spec.template.spec", "{}"},
        {"status", "{}"}}},
      {"poddisruptionbudgets.policy",
       {{"spec", "{}"},
        {"status", "{}"},
        {"status.disruptionsAllowed", "0"},
        {"status.currentHealthy", "0"},
        {"status.desiredHealthy", "0"},
        {"status.expectedPods", "0"}}},
  };
}

Shapes other_shapes() {
  return {
      {"certificatesigningrequests.certificates.k8s.io", {{"spec", "{}"}, {"status", "{}"}}},
      {"leases.coordination.k8s.io", {{"spec", "{}"}}},
      {"endpointslices.discovery.k8s.io", {{"endpoints", "null"}, {"ports", "null"}}},
      {"ingresses.networking.k8s.io",
       {{"spec", "{}"}, {"status", "{}"}, {"status.loadBalancer", "{}"}}},
      {"ingressclasses.networking.k8s.io", {{"spec", "{}"}}},
      {"ipaddresses.networking.k8s.io", {{"spec", "{}"}}},
      {"networkpolicies.networking.k8s.io", {{"spec", "{}"}, {"spec.podSelector", "{}"}}},
      {"servicecidrs.networking.k8s.io", {{"spec", "{}"}, {"status", "{}"}}},
      {"roles.rbac.authorization.k8s.io", {{"rules", "null"}}},
      {"clusterroles.rbac.authorization.k8s.io", {{"rules", "null"}}},
      {"rolebindings.rbac.authorization.k8s.io", {{"roleRef", "{}"}}},
      {"clusterrolebindings.rbac.authorization.k8s.io", {{"roleRef", "{}"}}},
      {"priorityclasses.scheduling.k8s.io", {{"value", "0"}}},
      {"csidrivers.storage.k8s.io", {{"spec", "{}"}}},
      {"csinodes.storage.k8s.io", {{"spec", "{}"}, {"spec.drivers", "null"}}},
      {"volumeattachments.storage.k8s.io",
       {{"spec", "{}"}, {"spec.source", "{}"}, {"status", "{}"}, {"status.attached", "false"}}},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       {{"spec", "{}"}, {"status", "{}"}}},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", {{"spec", "{}"}}},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io", {{"spec", "{}"}}},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", {{"spec", "{}"}}},
      {"resourceclaims.resource.k8s.io",
       {{"spec", "{}"},
        {"spec.devices", "{}"},
        {"spec.devices.requests", "null"},
        {"status", "{}"}}},
      {"resourceclaimtemplates.resource.k8s.io",
       {{"spec", "{}"},
        {"spec.metadata", "{}"},
        {"spec.spec", "{}"},
        {"spec.spec.devices", "{}"},
        {"spec.spec.devices.requests", "null"}}},
      {"deviceclasses.resource.k8s.io", {{"spec", "{}"}}},
      {"apiservices.apiregistration.k8s.io",
       {{"spec", "{}"},
        {"spec.groupPriorityMinimum", "0"},
        {"spec.versionPriority", "0"},
        {"status", "{}"}}},
      {"flowschemas.flowcontrol.apiserver.k8s.io",
       {{"spec", "{}"},
        {"spec.priorityLevelConfiguration", "{}"},
        {"spec.priorityLevelConfiguration.name", R"("")"},
        {"status", "{}"}}},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       {{"spec", "{}"}, {"spec.type", R"("")"}, {"status", "{}"}}},
      {"resourceslices.resource.k8s.io",
       {{"spec", "{}"},
        {"spec.pool", "{}"},
        {"spec.pool.generation", "0"},
        {"spec.pool.resourceSliceCount", "0"}}},
  };
}

const Shapes& shapes() {
  static const Shapes all = [] {
    Shapes out = core_shapes();
    out.merge(workload_shapes());
    out.merge(other_shapes());
    return out;
  }();
  return all;
}

// Kinds that look different in their two versions.
const DefaultRules* shape_of_version(const std::string& storage_id, const Json& object) {
  static const DefaultRules core_event = {
      {"involvedObject", "{}"},       {"source", "{}"},      {"firstTimestamp", "null"},
      {"lastTimestamp", "null"},      {"eventTime", "null"}, {"reportingComponent", R"("")"},
      {"reportingInstance", R"("")"},
  };
  static const DefaultRules event = {
      {"regarding", "{}"},
      {"eventTime", "null"},
      {"deprecatedSource", "{}"},
      {"deprecatedFirstTimestamp", "null"},
      {"deprecatedLastTimestamp", "null"},
  };
  static const DefaultRules scaler_v1 = {{"spec", "{}"},
                                         {"spec.scaleTargetRef", "{}"},
                                         {"status", "{}"},
                                         {"status.currentReplicas", "0"},
                                         {"status.desiredReplicas", "0"}};
  static const DefaultRules scaler_v2 = {{"spec", "{}"},
                                         {"spec.scaleTargetRef", "{}"},
                                         {"status", "{}"},
                                         {"status.desiredReplicas", "0"},
                                         {"status.currentMetrics", "null"}};
  if (storage_id == "events") return has_text(object, "apiVersion", "v1") ? &core_event : &event;
  if (storage_id != "horizontalpodautoscalers.autoscaling") return nullptr;
  return has_text(object, "apiVersion", "autoscaling/v1") ? &scaler_v1 : &scaler_v2;
}

}  // namespace

const DefaultRules& shape_of(const std::string& storage_id, const Json& object) {
  static const DefaultRules none = {};
  if (const DefaultRules* rules = shape_of_version(storage_id, object)) return *rules;
  const auto found = shapes().find(storage_id);
  return found == shapes().end() ? none : found->second;
}

Json empty_object(const std::string& storage_id, const std::string& api_version) {
  Json out = {{"apiVersion", api_version}};
  shape_of(storage_id, out).apply(out);
  return out;
}

}  // namespace kubewatch::builtin
