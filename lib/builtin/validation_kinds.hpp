// The rules of built-in kinds, one function a kind, for validation.cpp, which says what
// belongs to which. `live` is null for a create. What all kinds have in common (names, labels) is
// told before, by apiserver/metadata.hpp. Pure.
#pragma once

#include "base/result.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::builtin {

using KindRules = void(const Field& object, const Json* live);

// validation_workloads.cpp
KindRules check_deployment;
KindRules check_replica_set;
KindRules check_stateful_set;
KindRules check_daemon_set;
KindRules check_replication_controller;
KindRules check_controller_revision;
KindRules check_pod_template_object;

// validation_workload_status.cpp
KindRules check_deployment_status;
KindRules check_replica_status;
KindRules check_stateful_set_status;
KindRules check_daemon_set_status;

// validation_pod_status.cpp
KindRules check_pod_status;

// validation_job_status.cpp
KindRules check_job_status;
// How many "0,2-4" are, of an indexed Job. Errors: invalid, in the server's words.
Result<std::int64_t> count_indexes(const std::string& text, std::int64_t completions);

// validation_batch.cpp
KindRules check_job;
KindRules check_cron_job;
// What is wrong with a schedule, in the words of the server's parser; "" when nothing is.
std::string check_schedule(const std::string& schedule);

// validation_services.cpp
KindRules check_service;
KindRules check_service_status;
KindRules check_endpoints;
KindRules check_endpoint_slice;

// validation_network.cpp
KindRules check_network_policy;
KindRules check_ingress;
KindRules check_ingress_status;
KindRules check_ingress_class;
KindRules check_service_ranges;
KindRules check_ip_address;

// validation_storage.cpp
KindRules check_claim;
KindRules check_claim_status;
KindRules check_volume;
KindRules check_storage_class;
KindRules check_attributes_class;

// validation_csi.cpp
KindRules check_csi_driver;
KindRules check_csi_node;
KindRules check_storage_capacity;
KindRules check_attachment;
KindRules check_attachment_status;

// validation_devices.cpp
KindRules check_device_class;
KindRules check_resource_claim;
KindRules check_resource_claim_template;

// validation_claim_status.cpp
KindRules check_resource_claim_status;

// validation_slices.cpp
KindRules check_resource_slice;

// validation_autoscaling.cpp
KindRules check_autoscaler;
KindRules check_autoscaler_status;
KindRules check_disruption_budget;
KindRules check_disruption_budget_status;

// validation_quotas.cpp
KindRules check_resource_quota;
KindRules check_resource_quota_status;
KindRules check_limit_range;
KindRules check_priority_class;
KindRules check_runtime_class;

// validation_rbac.cpp
KindRules check_role;
KindRules check_cluster_role;
KindRules check_role_binding;
KindRules check_cluster_role_binding;

// validation_registrations.cpp
KindRules check_webhooks;
KindRules check_api_service;
KindRules check_api_service_status;
// Which operations on which resources.
void check_operations_rule(const Field& rule);

// validation_policies.cpp
KindRules check_validating_policy;
KindRules check_validating_policy_status;
KindRules check_mutating_policy;
KindRules check_validating_binding;
KindRules check_mutating_binding;
// `params`: they may name parameters.
void check_match_conditions(const Field& conditions, bool params);

// validation_flow_control.cpp
KindRules check_flow_schema;
KindRules check_priority_level;
KindRules check_flow_conditions;  // of a status

// validation_data.cpp
KindRules check_config_map_object;
KindRules check_secret_object;
KindRules check_namespace;
KindRules check_namespace_status;
KindRules check_node;
KindRules check_node_status;
KindRules check_event;
KindRules check_lease;

}  // namespace kubewatch::builtin
