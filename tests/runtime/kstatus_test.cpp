// The rules of kstatus, kind by kind, and what strict changes of them.
#include "runtime/kstatus.hpp"

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "runtime/rollout_status.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using runtime::KState;
using runtime::kstatus;
using runtime::KStatus;

namespace {

const WallTime kNow = *base::parse_rfc3339("2026-01-02T03:04:05Z");

struct Row {
  std::string what;
  std::string apiversion_kind;
  std::string rest;  // YAML flow map entries beside apiVersion and kind
  std::string usual;
  std::string strict;  // "" = the same
};

Json object(const std::string& apiversion_kind, const std::string& rest) {
  const auto space = apiversion_kind.find(' ');
  const std::string text = "{apiVersion: " + apiversion_kind.substr(0, space) +
                           ", kind: " + apiversion_kind.substr(space + 1) + ", " + rest + "}";
  auto parsed = base::parse_yaml_values(text);
  INFO(text);
  REQUIRE(parsed.ok());
  return parsed->front();
}

std::string status(const Row& row, bool strict) {
  const Json json = object(row.apiversion_kind, row.rest);
  return std::string(runtime::to_string(kstatus(&json, kNow, {strict, Duration{10000}}).status));
}

void check(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(status(row, false) == row.usual);
    CHECK(status(row, true) == (row.strict.empty() ? row.usual : row.strict));
  }
}

std::string condition(const std::string& type, const std::string& status,
                      const std::string& reason = "X") {
  return "{type: " + type + ", status: \"" + status + "\", reason: " + reason + "}";
}

}  // namespace

TEST_CASE("kstatus: what holds for every kind comes first") {
  check({
      {"being deleted", "v1 ConfigMap", "metadata: {deletionTimestamp: \"2026-01-02T03:04:05Z\"}",
       "Terminating", ""},
      {"older generation", "demo.dev/v1 Thing",
       "metadata: {generation: 2}, status: {observedGeneration: 1}", "InProgress", ""},
      {"newer generation", "demo.dev/v1 Thing",
       "metadata: {generation: 2}, status: {observedGeneration: 3}", "InProgress", ""},
      {"generation as text", "demo.dev/v1 Thing",
       "metadata: {generation: 2}, status: {observedGeneration: \"2\"}", "Unknown", "Current"},
      {"older generation as text", "demo.dev/v1 Thing",
       "metadata: {generation: 2}, status: {observedGeneration: \"1\"}", "Unknown", "InProgress"},
      {"generation that is no number", "demo.dev/v1 Thing",
       "metadata: {generation: 2}, status: {observedGeneration: abc}", "Unknown", ""},
      {"reconciling", "demo.dev/v1 Thing",
       "status: {conditions: [" + condition("Reconciling", "True") + "]}", "InProgress", ""},
      {"stalled", "demo.dev/v1 Thing",
       "status: {conditions: [" + condition("Stalled", "True") + "]}", "Failed", ""},
      {"not stalled", "demo.dev/v1 Thing",
       "status: {conditions: [" + condition("Stalled", "False") + "]}", "Current", ""},
      {"ready", "demo.dev/v1 Thing", "status: {conditions: [" + condition("Ready", "True") + "]}",
       "Current", ""},
      {"not ready", "demo.dev/v1 Thing",
       "status: {conditions: [" + condition("Ready", "False") + "]}", "InProgress", ""},
      {"ready unknown", "demo.dev/v1 Thing",
       "status: {conditions: [" + condition("Ready", "Unknown") + "]}", "InProgress", ""},
      {"nothing at all, old", "demo.dev/v1 Thing",
       "metadata: {creationTimestamp: \"2026-01-02T03:00:00Z\"}", "Current", ""},
      {"nothing at all, new", "demo.dev/v1 Thing",
       "metadata: {creationTimestamp: \"2026-01-02T03:04:00Z\"}", "Current", "InProgress"},
      {"a status, new", "demo.dev/v1 Thing",
       "metadata: {creationTimestamp: \"2026-01-02T03:04:00Z\"}, status: {}", "Current", ""},
      {"a built-in kind without status, new", "networking.k8s.io/v1 NetworkPolicy",
       "metadata: {creationTimestamp: \"2026-01-02T03:04:00Z\"}", "Current", ""},
  });
  CHECK(kstatus(nullptr, kNow).status == KState::not_found);
}

TEST_CASE("kstatus: workloads are judged by their counters") {
  const std::string all = "replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2";
  const auto conditions = [](const std::string& progressing, const std::string& available) {
    return ", conditions: [" + condition("Progressing", "True", progressing) + ", " +
           condition("Available", available) + "]";
  };
  check({
      {"rolled out", "apps/v1 Deployment",
       "spec: {replicas: 2, progressDeadlineSeconds: 600}, status: {" + all +
           conditions("NewReplicaSetAvailable", "True") + "}",
       "Current", ""},
      {"replica set not available", "apps/v1 Deployment",
       "spec: {replicas: 2, progressDeadlineSeconds: 600}, status: {" + all +
           conditions("ReplicaSetUpdated", "True") + "}",
       "InProgress", ""},
      {"no deadline", "apps/v1 Deployment",
       "spec: {replicas: 2}, status: {" + all + conditions("ReplicaSetUpdated", "True") + "}",
       "Current", ""},
      {"not available", "apps/v1 Deployment",
       "spec: {replicas: 2}, status: {" + all + conditions("X", "False") + "}", "InProgress", ""},
      {"deadline exceeded", "apps/v1 Deployment",
       "spec: {replicas: 2}, status: {" + all + conditions("ProgressDeadlineExceeded", "True") +
           "}",
       "Failed", ""},
      {"too few", "apps/v1 Deployment", "spec: {replicas: 3}, status: {" + all + "}", "InProgress",
       ""},
      {"old ones left", "apps/v1 Deployment",
       "spec: {replicas: 1}, status: {" + all + conditions("X", "True") + "}", "InProgress", ""},
      {"no status", "apps/v1 Deployment", "spec: {}", "InProgress", ""},
      {"stateful set", "apps/v1 StatefulSet",
       "spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 2, currentReplicas: 2, "
       "currentRevision: a, updateRevision: a}",
       "Current", ""},
      {"stateful set of two revisions", "apps/v1 StatefulSet",
       "spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 2, currentReplicas: 2, "
       "currentRevision: a, updateRevision: b}",
       "InProgress", ""},
      {"stateful set with a partition", "apps/v1 StatefulSet",
       "spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}}, status: {replicas: "
       "3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}",
       "Current", ""},
      {"stateful set below its partition", "apps/v1 StatefulSet",
       "spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 1}}}, status: {replicas: "
       "3, readyReplicas: 3, updatedReplicas: 1}",
       "InProgress", ""},
      {"stateful set on delete", "apps/v1 StatefulSet",
       "spec: {replicas: 2, updateStrategy: {type: OnDelete}}", "Current", ""},
      {"daemon set", "apps/v1 DaemonSet",
       "metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1, "
       "currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1, numberReady: 1}",
       "Current", ""},
      {"daemon set not ready", "apps/v1 DaemonSet",
       "metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1, "
       "currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1}",
       "InProgress", ""},
      {"daemon set that nobody has seen", "apps/v1 DaemonSet", "metadata: {generation: 1}",
       "InProgress", ""},
      {"replica set", "apps/v1 ReplicaSet",
       "spec: {replicas: 1}, status: {replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, "
       "readyReplicas: 1}",
       "Current", ""},
      {"replica set that cannot make Pods", "apps/v1 ReplicaSet",
       "spec: {replicas: 1}, status: {conditions: [" + condition("ReplicaFailure", "True") + "]}",
       "InProgress", ""},
  });
}

TEST_CASE("kstatus: Pods and Jobs, and what strict says of them") {
  const std::string created = "metadata: {creationTimestamp: \"2026-01-02T03:03:00Z\"}, ";
  const std::string just = "metadata: {creationTimestamp: \"2026-01-02T03:04:00Z\"}, ";
  const std::string unschedulable = "status: {phase: Pending, conditions: [" +
                                    condition("PodScheduled", "False", "Unschedulable") + "]}";
  check({
      {"succeeded", "v1 Pod", "status: {phase: Succeeded}", "Current", ""},
      {"failed", "v1 Pod", "status: {phase: Failed, reason: Evicted}", "Current", "Failed"},
      {"running and ready", "v1 Pod",
       "status: {phase: Running, conditions: [" + condition("Ready", "True") + "]}", "Current", ""},
      {"running, not ready", "v1 Pod",
       "status: {phase: Running, conditions: [" + condition("Ready", "False") + "]}", "InProgress",
       ""},
      {"crash loop", "v1 Pod",
       "status: {phase: Running, containerStatuses: [{name: a, state: {waiting: {reason: "
       "CrashLoopBackOff}}}]}",
       "Failed", ""},
      {"pending", "v1 Pod", "status: {phase: Pending}", "InProgress", ""},
      {"unschedulable for a minute", "v1 Pod", created + unschedulable, "Failed", ""},
      {"unschedulable just now", "v1 Pod", just + unschedulable, "InProgress", ""},
      {"no status", "v1 Pod", "spec: {}", "InProgress", ""},
      {"complete", "batch/v1 Job", "status: {conditions: [" + condition("Complete", "True") + "]}",
       "Current", ""},
      {"failed", "batch/v1 Job", "status: {conditions: [" + condition("Failed", "True") + "]}",
       "Failed", ""},
      {"running", "batch/v1 Job", "status: {startTime: \"2026-01-02T03:03:00Z\", active: 1}",
       "Current", "InProgress"},
      {"not started", "batch/v1 Job", "status: {}", "InProgress", ""},
      {"suspended", "batch/v1 Job",
       "spec: {suspend: true}, status: {conditions: [" + condition("Suspended", "True") + "]}",
       "Current", ""},
  });
  const Json pod = object("v1 Pod", just + unschedulable);
  const KStatus later = kstatus(&pod, kNow);
  REQUIRE(later.changes_at.has_value());
  CHECK(kstatus(&pod, *later.changes_at).status == KState::failed);
}

TEST_CASE("kstatus: services, claims, budgets, definitions and kinds that are always current") {
  check({
      {"config map", "v1 ConfigMap", "data: {}", "Current", ""},
      {"secret", "v1 Secret", "data: {}", "Current", ""},
      {"cron job", "batch/v1 CronJob", "spec: {}", "Current", ""},
      {"service", "v1 Service", "spec: {type: ClusterIP}", "Current", ""},
      {"load balancer without address", "v1 Service", "spec: {type: LoadBalancer}", "InProgress",
       ""},
      {"load balancer without point", "v1 Service",
       "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}", "Current", "InProgress"},
      {"load balancer with an empty point", "v1 Service",
       "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{}]}}",
       "Current", "InProgress"},
      {"load balancer with a point", "v1 Service",
       "spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: "
       "1.2.3.4}]}}",
       "Current", ""},
      {"claim", "v1 PersistentVolumeClaim", "status: {phase: Bound}", "Current", ""},
      {"claim that waits", "v1 PersistentVolumeClaim", "status: {phase: Pending}", "InProgress",
       ""},
      {"budget", "policy/v1 PodDisruptionBudget",
       "metadata: {generation: 1}, status: {observedGeneration: 1}", "Current", ""},
      {"budget that nobody has seen", "policy/v1 PodDisruptionBudget", "metadata: {generation: 1}",
       "InProgress", ""},
      {"definition", "apiextensions.k8s.io/v1 CustomResourceDefinition",
       "status: {conditions: [" + condition("Established", "True") + "]}", "Current", ""},
      {"definition with a taken name", "apiextensions.k8s.io/v1 CustomResourceDefinition",
       "status: {conditions: [" + condition("NamesAccepted", "False") + "]}", "Failed", ""},
      {"definition that is installing", "apiextensions.k8s.io/v1 CustomResourceDefinition",
       "status: {conditions: [" + condition("Established", "False", "Installing") + "]}",
       "InProgress", ""},
      {"definition that is not established", "apiextensions.k8s.io/v1 CustomResourceDefinition",
       "status: {conditions: [" + condition("Established", "False", "Broken") + "]}", "Failed", ""},
      {"definition without status", "apiextensions.k8s.io/v1 CustomResourceDefinition", "spec: {}",
       "InProgress", ""},
      {"another group's Pod is no Pod", "demo.dev/v1 Pod", "status: {phase: Pending}", "Current",
       ""},
  });
}

TEST_CASE("kstatus says by which rule, what it saw and what it wants") {
  const Json web = object("apps/v1 Deployment",
                          "spec: {replicas: 3}, status: {replicas: 3, updatedReplicas: 3, "
                          "availableReplicas: 1, readyReplicas: 1}");
  const KStatus status = kstatus(&web, kNow);
  CHECK(status.rule == "Deployment: availableReplicas");
  CHECK(status.message == "1 of 3 replicas are available");
  CHECK(status.wanted == "availableReplicas=3");
}

TEST_CASE("a rollout is judged as kubectl rollout status does, and other kinds by their counters") {
  const std::vector<Row> rows = {
      {"deployment", "apps/v1 Deployment",
       "metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: "
       "1, updatedReplicas: 1, availableReplicas: 1}",
       "Current", ""},
      {"unobserved", "apps/v1 Deployment", "metadata: {generation: 1}, spec: {replicas: 1}",
       "InProgress", ""},
      {"on delete", "apps/v1 DaemonSet", "spec: {updateStrategy: {type: OnDelete}}", "Failed", ""},
      {"stateful set", "apps/v1 StatefulSet",
       "metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, "
       "readyReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: a}",
       "Current", ""},
      {"other controller's, updating", "demo.dev/v1 Rollout",
       "metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: \"2\", "
       "updatedReplicas: 1}",
       "InProgress", ""},
      {"other controller's, done", "demo.dev/v1 Rollout",
       "metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, "
       "updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}",
       "Current", ""},
      {"other controller's, silent", "demo.dev/v1 Rollout",
       "metadata: {generation: 2}, spec: {replicas: 2}, status: {updatedReplicas: 2}", "InProgress",
       ""},
      {"being deleted", "apps/v1 Deployment",
       "metadata: {deletionTimestamp: \"2026-01-02T03:04:05Z\"}", "Terminating", ""},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    const Json json = object(row.apiversion_kind, row.rest);
    CHECK(runtime::to_string(runtime::rollout_status(&json, kNow).status) == row.usual);
  }
}
