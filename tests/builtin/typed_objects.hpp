// Objects by the storage_id of their kind, with the apiVersion and kind that the server has put
// into them before it asks for their defaults.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/json.hpp"

namespace kubewatch::builtin {

inline Json typed_object(const std::string& storage_id, Json object) {
  static const std::map<std::string, std::pair<const char*, const char*>> kinds = {
      {"pods", {"v1", "Pod"}},
      {"podtemplates", {"v1", "PodTemplate"}},
      {"replicationcontrollers", {"v1", "ReplicationController"}},
      {"services", {"v1", "Service"}},
      {"endpoints", {"v1", "Endpoints"}},
      {"events", {"v1", "Event"}},
      {"limitranges", {"v1", "LimitRange"}},
      {"namespaces", {"v1", "Namespace"}},
      {"nodes", {"v1", "Node"}},
      {"persistentvolumes", {"v1", "PersistentVolume"}},
      {"persistentvolumeclaims", {"v1", "PersistentVolumeClaim"}},
      {"resourcequotas", {"v1", "ResourceQuota"}},
      {"daemonsets.apps", {"apps/v1", "DaemonSet"}},
      {"deployments.apps", {"apps/v1", "Deployment"}},
      {"replicasets.apps", {"apps/v1", "ReplicaSet"}},
      {"statefulsets.apps", {"apps/v1", "StatefulSet"}},
      {"cronjobs.batch", {"batch/v1", "CronJob"}},
      {"jobs.batch", {"batch/v1", "Job"}},
      {"clusterroles.rbac.authorization.k8s.io", {"rbac.authorization.k8s.io/v1", "ClusterRole"}},
      {"clusterrolebindings.rbac.authorization.k8s.io",
       {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"}},
      {"roles.rbac.authorization.k8s.io", {"rbac.authorization.k8s.io/v1", "Role"}},
      {"rolebindings.rbac.authorization.k8s.io", {"rbac.authorization.k8s.io/v1", "RoleBinding"}},
      {"csidrivers.storage.k8s.io", {"storage.k8s.io/v1", "CSIDriver"}},
      {"csinodes.storage.k8s.io", {"storage.k8s.io/v1", "CSINode"}},
      {"storageclasses.storage.k8s.io", {"storage.k8s.io/v1", "StorageClass"}},
      {"volumeattachments.storage.k8s.io", {"storage.k8s.io/v1", "VolumeAttachment"}},
      {"deviceclasses.resource.k8s.io", {"resource.k8s.io/v1", "DeviceClass"}},
      {"resourceclaims.resource.k8s.io", {"resource.k8s.io/v1", "ResourceClaim"}},
      {"resourceclaimtemplates.resource.k8s.io", {"resource.k8s.io/v1", "ResourceClaimTemplate"}},
      {"resourceslices.resource.k8s.io", {"resource.k8s.io/v1", "ResourceSlice"}},
      {"endpointslices.discovery.k8s.io", {"discovery.k8s.io/v1", "EndpointSlice"}},
      {"horizontalpodautoscalers.autoscaling", {"autoscaling/v2", "HorizontalPodAutoscaler"}},
      {"ingressclasses.networking.k8s.io", {"networking.k8s.io/v1", "IngressClass"}},
      {"ingresses.networking.k8s.io", {"networking.k8s.io/v1", "Ingress"}},
      {"ipaddresses.networking.k8s.io", {"networking.k8s.io/v1", "IPAddress"}},
      {"networkpolicies.networking.k8s.io", {"networking.k8s.io/v1", "NetworkPolicy"}},
      {"servicecidrs.networking.k8s.io", {"networking.k8s.io/v1", "ServiceCIDR"}},
      {"leases.coordination.k8s.io", {"coordination.k8s.io/v1", "Lease"}},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io",
       {"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"}},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io",
       {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"}},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"}},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       {"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"}},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io",
       {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"}},
      {"poddisruptionbudgets.policy", {"policy/v1", "PodDisruptionBudget"}},
      {"priorityclasses.scheduling.k8s.io", {"scheduling.k8s.io/v1", "PriorityClass"}},
      {"apiservices.apiregistration.k8s.io", {"apiregistration.k8s.io/v1", "APIService"}},
      {"flowschemas.flowcontrol.apiserver.k8s.io",
       {"flowcontrol.apiserver.k8s.io/v1", "FlowSchema"}},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
       {"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"}},
  };
  if (!object.is_object()) return object;
  const auto found = kinds.find(storage_id);
  if (found == kinds.end()) return object;
  const auto& [version, kind] = found->second;
  if (!object.contains("apiVersion")) object["apiVersion"] = version;
  object["kind"] = kind;
  return object;
}

}  // namespace kubewatch::builtin
