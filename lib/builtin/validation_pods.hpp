// The rules of Pods and of the templates of Pods in parts, for the kinds that have one. What they
// are told of is always the field itself. Pure.
#pragma once

#include <set>
#include <string>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

// Of one rule, of a Pod's restarts or of a Job's failures.
inline constexpr std::size_t kMostExitCodes = 255;

// What a rule may have to know besides the spec.
struct PodSurroundings {
  bool is_pod = false;  // not a template
  std::string name;     // of the Pod
};

void check_pod(const Field& pod, const Json* live);
void check_pod_template(const Field& tmpl);
void check_pod_annotations(const Field& annotations, const Field& spec);
void check_pod_spec(const Field& spec, const PodSurroundings& around);

// validation_containers.cpp
struct ContainerSurroundings {
  std::set<std::string> volumes;  // those that are right
  std::set<std::string> claims;   // which of them are claims, for block devices
  std::set<std::string> resource_claims;
  std::optional<std::int64_t> grace_seconds;
  bool host_users = true;
};
void check_containers(const Field& spec, const ContainerSurroundings& around);
void check_init_containers(const Field& spec, const ContainerSurroundings& around);
void check_ephemeral_containers(const Field& spec, const ContainerSurroundings& around);
// Requests and limits; `claims` are the names of the Pod's resourceClaims.
using ResourceNameRule = void(const Field& place, const std::string& resource);
void check_resources(const Field& resources, const std::set<std::string>& claims,
                     ResourceNameRule* check_name = check_container_resource_name);
ResourceNameRule check_pod_resource_name;
void check_seccomp(const Field& profile);
void check_app_armor(const Field& profile);

// validation_probes.cpp
void check_lifecycle(const Field& lifecycle, std::optional<std::int64_t> grace_seconds);
void check_probes(const Field& container, std::optional<std::int64_t> grace_seconds);

// validation_env.cpp
void check_env(const Field& env);
void check_env_from(const Field& env_from);
void check_downward_file(const Field& file, const Field& told);

// validation_volumes.cpp: fills in the volumes of `out`.
void check_volumes(const Field& spec, const PodSurroundings& around, ContainerSurroundings& out);
void check_host_path(const Field& source);
void check_csi_driver_name(const Field& name);

// validation_windows.cpp
void check_windows_options(const Field& options);
void check_host_process(const Field& spec);
void check_os(const Field& spec);

// validation_scheduling.cpp
void check_affinity(const Field& affinity);
void check_node_selector(const Field& selector);
void check_tolerations(const Field& tolerations);
void check_topology_spread(const Field& constraints);
void check_taint_effect(const Field& effect);

// validation_pod_update.cpp
void check_pod_update(const Field& pod, const Field& live);

// validation_container_status.cpp
void check_container_statuses(const Field& status, const Field& spec);
// Of the claim that was made for extended resources.
void check_extended_claim_status(const Field& status, const Field& spec);

// validation_storage.cpp
void check_claim_spec(const Field& spec);
// Of a volume that is attached without being an object of its own.
void check_inline_volume(const Field& spec);

}  // namespace kubewatch::builtin
