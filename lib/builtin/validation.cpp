#include "builtin/validation.hpp"

#include <map>

#include "builtin/certificate_requests.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pod_subresources.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

const std::map<std::string, KindRules*>& rules() {
  static const std::map<std::string, KindRules*> all = {
      {"pods", check_pod},
      {"podtemplates", check_pod_template_object},
      {"replicationcontrollers", check_replication_controller},
      {"services", check_service},
      {"endpoints", check_endpoints},
      {"configmaps", check_config_map_object},
      {"secrets", check_secret_object},
      {"namespaces", check_namespace},
      {"nodes", check_node},
      {"events", check_event},
      {"resourcequotas", check_resource_quota},
      {"limitranges", check_limit_range},
      {"persistentvolumes", check_volume},
      {"persistentvolumeclaims", check_claim},
      {"deployments.apps", check_deployment},
      {"replicasets.apps", check_replica_set},
      {"statefulsets.apps", check_stateful_set},
      {"daemonsets.apps", check_daemon_set},
      {"controllerrevisions.apps", check_controller_revision},
      {"jobs.batch", check_job},
      {"cronjobs.batch", check_cron_job},
      {"endpointslices.discovery.k8s.io", check_endpoint_slice},
      {"networkpolicies.networking.k8s.io", check_network_policy},
      {"ingresses.networking.k8s.io", check_ingress},
      {"ingressclasses.networking.k8s.io", check_ingress_class},
      {"servicecidrs.networking.k8s.io", check_service_ranges},
      {"ipaddresses.networking.k8s.io", check_ip_address},
      {"storageclasses.storage.k8s.io", check_storage_class},
      {"volumeattributesclasses.storage.k8s.io", check_attributes_class},
      {"csidrivers.storage.k8s.io", check_csi_driver},
      {"csinodes.storage.k8s.io", check_csi_node},
      {"csistoragecapacities.storage.k8s.io", check_storage_capacity},
      {"volumeattachments.storage.k8s.io", check_attachment},
      {"deviceclasses.resource.k8s.io", check_device_class},
      {"resourceclaims.resource.k8s.io", check_resource_claim},
      {"resourceclaimtemplates.resource.k8s.io", check_resource_claim_template},
      {"resourceslices.resource.k8s.io", check_resource_slice},
      {"horizontalpodautoscalers.autoscaling", check_autoscaler},
      {"poddisruptionbudgets.policy", check_disruption_budget},
      {"priorityclasses.scheduling.k8s.io", check_priority_class},
      {"runtimeclasses.node.k8s.io", check_runtime_class},
      {"leases.coordination.k8s.io", check_lease},
      {"roles.rbac.authorization.k8s.io", check_role},
      {"clusterroles.rbac.authorization.k8s.io", check_cluster_role},
      {"rolebindings.rbac.authorization.k8s.io", check_role_binding},
      {"clusterrolebindings.rbac.authorization.k8s.io", check_cluster_role_binding},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", check_webhooks},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", check_webhooks},
      {"apiservices.apiregistration.k8s.io", check_api_service},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", check_validating_policy},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io", check_validating_binding},
      {"mutatingadmissionpolicies.admissionregistration.k8s.io", check_mutating_policy},
      {"mutatingadmissionpolicybindings.admissionregistration.k8s.io", check_mutating_binding},
      {"flowschemas.flowcontrol.apiserver.k8s.io", check_flow_schema},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", check_priority_level},
  };
  return all;
}

const std::map<std::string, KindRules*>& status_rules() {
  static const std::map<std::string, KindRules*> all = {
      {"pods", check_pod_status},
      {"resourcequotas", check_resource_quota_status},
      {"horizontalpodautoscalers.autoscaling", check_autoscaler_status},
      {"nodes", check_node_status},
      {"services", check_service_status},
      {"namespaces", check_namespace_status},
      {"persistentvolumeclaims", check_claim_status},
      {"apiservices.apiregistration.k8s.io", check_api_service_status},
      {"replicationcontrollers", check_replica_status},
      {"deployments.apps", check_deployment_status},
      {"replicasets.apps", check_replica_status},
      {"statefulsets.apps", check_stateful_set_status},
      {"daemonsets.apps", check_daemon_set_status},
      {"jobs.batch", check_job_status},
      {"ingresses.networking.k8s.io", check_ingress_status},
      {"poddisruptionbudgets.policy", check_disruption_budget_status},
      {"volumeattachments.storage.k8s.io", check_attachment_status},
      {"resourceclaims.resource.k8s.io", check_resource_claim_status},
      {"validatingadmissionpolicies.admissionregistration.k8s.io", check_validating_policy_status},
      {"flowschemas.flowcontrol.apiserver.k8s.io", check_flow_conditions},
      {"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", check_flow_conditions},
  };
  return all;
}

}  // namespace

void validate(const std::string& storage_id, const Json* live, const Json& object,
              const std::string& subresource, FieldErrors& errors) {
  if (storage_id == kCertificateRequests) {
    return check_certificate_request(live, object, subresource, errors);
  }
  if (KindRules* part = rules_of_pod_part(subresource)) return part(Field(object, errors), live);
  // Other endpoints keep the spec as it is, but for a Namespace's.
  const bool of_spec = subresource.empty() || subresource == "finalize";
  if (!of_spec && subresource != "status") return;
  const auto& all = of_spec ? rules() : status_rules();
  const auto found = all.find(storage_id);
  if (found != all.end()) found->second(Field(object, errors), live);
}

}  // namespace kubewatch::builtin
