// Kinds that make Pods, and Services.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "base/json.hpp"
#include "builtin/default_rules.hpp"
#include "builtin/defaults_kinds.hpp"

namespace kubewatch::builtin {

namespace {

void default_deployment(Json& object) {
  static const DefaultRules rules = {
      {"spec.replicas", "1"},
      {"spec.strategy.type", R"("RollingUpdate")", kUnset},
      {"spec.strategy.rollingUpdate", "{}", kAbsent, "type", "RollingUpdate"},
      {"spec.strategy.rollingUpdate.maxUnavailable", R"("25%")"},
      {"spec.strategy.rollingUpdate.maxSurge", R"("25%")"},
      {"spec.revisionHistoryLimit", "10"},
      {"spec.progressDeadlineSeconds", "600"},
  };
  rules.apply(object);
  for_each_at(object, "spec.template", default_pod_template);
}

void default_daemon_set(Json& object) {
  static const DefaultRules rules = {
      {"spec.updateStrategy.type", R"("RollingUpdate")", kUnset},
      {"spec.updateStrategy.rollingUpdate", "{}", kAbsent, "type", "RollingUpdate"},
      {"spec.updateStrategy.rollingUpdate.maxUnavailable", "1"},
      {"spec.updateStrategy.rollingUpdate.maxSurge", "0"},
      {"spec.revisionHistoryLimit", "10"},
      {"metadata", "{}"},
      {"metadata.annotations", "{}"},
  };
  rules.apply(object);
  for_each_at(object, "metadata.annotations", [](Json& annotations) {
    if (annotations.is_object() && is_unset(annotations, kTemplateGeneration)) {
      annotations[kTemplateGeneration] = "0";
    }
  });
  for_each_at(object, "spec.template", default_pod_template);
}

void default_claim_template(Json& claim) {
  static const DefaultRules rules = {
      {"status.phase", R"("Pending")", kUnset},
  };
  rules.apply(claim);
  // Whatever is said there is not read.
  if (claim.is_object()) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
  }
  for_each_at(claim, "spec", default_claim_spec);
}

void default_stateful_set(Json& object) {
  static const DefaultRules rules = {
      {"spec.podManagementPolicy", R"("OrderedReady")", kUnset},
      {"spec.updateStrategy.rollingUpdate", "{}", kAbsent, "type", ""},
      {"spec.updateStrategy.type", R"("RollingUpdate")", kUnset},
      {"spec.updateStrategy.rollingUpdate.partition", "0"},
      {"spec.persistentVolumeClaimRetentionPolicy", "{}"},
      {"spec.persistentVolumeClaimRetentionPolicy.whenDeleted", R"("Retain")", kUnset},
      {"spec.persistentVolumeClaimRetentionPolicy.whenScaled", R"("Retain")", kUnset},
      {"spec.replicas", "1"},
      {"spec.revisionHistoryLimit", "10"},
  };
  rules.apply(object);
  for_each_at(object, "spec.volumeClaimTemplates[]", default_claim_template);
  for_each_at(object, "spec.template", default_pod_template);
}

void default_replica_set(Json& object) {
  static const DefaultRules rules = {{"spec.replicas", "1"}};
  rules.apply(object);
  for_each_at(object, "spec.template", default_pod_template);
}

bool says_nothing(const Json& object, const char* map) {
  const Json* found = base::find(object, {map});
  return found == nullptr || found->is_null() || (found->is_object() && found->empty());
}

// The labels of the template become those of the object where it has none.
void take_template_labels(Json& object) {
  const Json* labels = base::find(object, {"spec", "template", "metadata", "labels"});
  if (labels == nullptr || !labels->is_object() || labels->empty()) return;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (metadata.is_object() && says_nothing(metadata, "labels")) metadata["labels"] = *labels;
}

void default_replication_controller(Json& object) {
  static const DefaultRules rules = {{"spec.replicas", "1"}};
  rules.apply(object);
  for_each_at(object, "spec.template", default_pod_template);
  take_template_labels(object);
  for_each_at(object, "spec", [](Json& spec) {
    const Json* labels = base::find(spec, {"template", "metadata", "labels"});
    if (labels == nullptr || !labels->is_object() || labels->empty()) return;
    if (says_nothing(spec, "selector")) spec["selector"] = Json(*labels);
  });
}

void default_failure_policy(Json& job_spec) {
  static const DefaultRules rules = {
      {"podFailurePolicy.rules[].onPodConditions[].status", R"("True")", kUnset}};
  rules.apply(job_spec);
}

void default_job_spec(Json& spec) {
  if (!spec.is_object()) return;
  // A Job that is not parallel says neither.
  if (is_absent(spec, "completions") && is_absent(spec, "parallelism")) spec["completions"] = 1;
  if (is_absent(spec, "backoffLimit")) {
    const bool each = !is_absent(spec, "backoffLimitPerIndex");
    spec["backoffLimit"] = each ? std::numeric_limits<std::int32_t>::max() : 6;
  }
  if (is_absent(spec, "podReplacementPolicy")) {
    const bool judged = !is_absent(spec, "podFailurePolicy");
    spec["podReplacementPolicy"] = judged ? "Failed" : "TerminatingOrFailed";
  }
  static const DefaultRules rules = {{"parallelism", "1"},
                                     {"completionMode", R"("NonIndexed")"},
                                     {"suspend", "false"},
                                     {"manualSelector", "false"}};
  rules.apply(spec);
  default_failure_policy(spec);
}

void default_job(Json& object) {
  for_each_at(object, "spec", default_job_spec);
  for_each_at(object, "spec.template", default_pod_template);
  take_template_labels(object);
}

// The Jobs that it makes get their own defaults when they are made.
void default_cron_job(Json& object) {
  static const DefaultRules rules = {
      {"spec.concurrencyPolicy", R"("Allow")", kUnset},
      {"spec.suspend", "false"},
      {"spec.successfulJobsHistoryLimit", "3"},
      {"spec.failedJobsHistoryLimit", "1"},
  };
  rules.apply(object);
  for_each_at(object, "spec.jobTemplate.spec", default_failure_policy);
  for_each_at(object, "spec.jobTemplate.spec.template", default_pod_template);
}

void default_pod_template_kind(Json& object) {
  for_each_at(object, "template", default_pod_template);
}

bool is_reached_from_outside(const Json& spec) {
  const std::string type = base::string_at(spec, {"type"});
  if (type == "NodePort" || type == "LoadBalancer") return true;
  return type == "ClusterIP" && !is_unset(spec, "externalIPs");
}

void default_service_spec(Json& spec) {
  if (!spec.is_object()) return;
  static const DefaultRules rules = {
      {"sessionAffinity", R"("None")", kUnset},
      {"type", R"("ClusterIP")", kUnset},
      {"ports[].protocol", R"("TCP")", kUnset},
      {"allocateLoadBalancerNodePorts", "true", kAbsent, "type", "LoadBalancer"},
  };
  rules.apply(spec);
  if (has_text(spec, "sessionAffinity", "None")) spec.erase("sessionAffinityConfig");
  if (has_text(spec, "sessionAffinity", "ClientIP") &&
      !base::int_at(spec, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"})) {
    spec["sessionAffinityConfig"] = {{"clientIP", {{"timeoutSeconds", 10800}}}};
  }
  for_each_at(spec, "ports[]", [](Json& port) {
    if (!port.is_object() || !is_unset(port, "targetPort")) return;
    if (!is_absent(port, "port")) port["targetPort"] = port["port"];
  });
  if (is_reached_from_outside(spec) && is_unset(spec, "externalTrafficPolicy")) {
    spec["externalTrafficPolicy"] = "Cluster";
  }
  const bool named = has_text(spec, "type", "ExternalName");
  if (!named && is_absent(spec, "internalTrafficPolicy")) spec["internalTrafficPolicy"] = "Cluster";
}

void default_service(Json& service) {
  for_each_at(service, "spec", default_service_spec);
  if (base::string_at(service, {"spec", "type"}) != "LoadBalancer") return;
  for_each_at(service, "status.loadBalancer.ingress[]", [](Json& ingress) {
    if (!ingress.is_object() || is_unset(ingress, "ip")) return;
    if (is_absent(ingress, "ipMode")) ingress["ipMode"] = "VIP";
  });
}

}  // namespace

bool default_workload(const std::string& storage_id, Json& object) {
  static const std::map<std::string, void (*)(Json&)> kinds = {
      {"pods", default_pod},
      {"podtemplates", default_pod_template_kind},
      {"replicationcontrollers", default_replication_controller},
      {"services", default_service},
      {"daemonsets.apps", default_daemon_set},
      {"deployments.apps", default_deployment},
      {"replicasets.apps", default_replica_set},
      {"statefulsets.apps", default_stateful_set},
      {"cronjobs.batch", default_cron_job},
      {"jobs.batch", default_job},
  };
  const auto found = kinds.find(storage_id);
  if (found == kinds.end()) return false;
  found->second(object);
  return true;
}

}  // namespace kubewatch::builtin
