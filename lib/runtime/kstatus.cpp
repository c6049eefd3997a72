#include "runtime/kstatus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/resource.hpp"
#include "runtime/object_status.hpp"

namespace kubewatch::runtime {

namespace {

constexpr Duration kSchedulingTime{15000};

// One object with the time at which it is looked at.
struct Look {
  const Json& object;
  WallTime now;
  const KStatusOptions& options;

  std::string text(std::initializer_list<std::string_view> path) const {
    return base::string_at(object, path);
  }
  std::int64_t count(std::initializer_list<std::string_view> path,
                     std::int64_t otherwise = 0) const {
    return integer_at(object, path).value_or(otherwise);
  }
};

KStatus current(std::string rule, std::string message) {
  return {KState::current, std::move(rule), std::move(message), "", {}};
}
KStatus in_progress(std::string rule, std::string message, std::string wanted) {
  return {KState::in_progress, std::move(rule), std::move(message), std::move(wanted), {}};
}
KStatus failed(std::string rule, std::string message, std::string wanted) {
  return {KState::failed, std::move(rule), std::move(message), std::move(wanted), {}};
}

std::string status_of(const Json& condition) {
  return base::string_at(condition, {"status"});
}

// "Ready is False (reason Crash: back-off)" for a condition at hand, without its generation.
std::string say(const Json& object, const std::string& type) {
  return describe_condition(object, type);
}

bool has(const Look& look, std::string_view type, std::string_view status) {
  const Json* condition = find_condition(look.object, type);
  return condition != nullptr && status_of(*condition) == status;
}

// A counter that is below what it must be.
struct Counter {
  const char* field;
  std::int64_t seen;
  std::int64_t wanted;
  const char* are;  // "are available"
};

std::optional<KStatus> first_short(const std::string& kind, const std::vector<Counter>& counters) {
  for (const auto& one : counters) {
    if (one.seen >= one.wanted) continue;
    return in_progress(kind + ": " + one.field,
                       fmt::format("{} of {} {}", one.seen, one.wanted, one.are),
                       fmt::format("{}={}", one.field, one.wanted));
  }
  return std::nullopt;
}

std::optional<KStatus> extra(const std::string& kind, std::int64_t all, std::int64_t wanted) {
  if (all <= wanted) return std::nullopt;
  return in_progress(kind + ": replicas",
                     fmt::format("{} old replicas are still there", all - wanted),
                     fmt::format("replicas={}", wanted));
}

KStatus deployment(const Look& look) {
  const std::int64_t wanted = look.count({"spec", "replicas"}, 1);
  const std::int64_t all = look.count({"status", "replicas"});
  const std::int64_t updated = look.count({"status", "updatedReplicas"});
  const Json* progressing = find_condition(look.object, "Progressing");
  const std::string reason =
      progressing != nullptr ? base::string_at(*progressing, {"reason"}) : "";
  if (reason == "ProgressDeadlineExceeded") {
    return failed("Deployment: condition Progressing", say(look.object, "Progressing"),
                  "Progressing with reason NewReplicaSetAvailable");
  }
  if (auto less = first_short("Deployment",
                              {{"replicas", all, wanted, "replicas are there"},
                               {"updatedReplicas", updated, wanted, "replicas are updated"}})) {
    return *less;
  }
  if (auto more = extra("Deployment", all, wanted)) return *more;
  if (auto less = first_short(
          "Deployment", {{"availableReplicas", look.count({"status", "availableReplicas"}), updated,
                          "replicas are available"},
                         {"readyReplicas", look.count({"status", "readyReplicas"}), wanted,
                          "replicas are ready"}})) {
    return *less;
  }
  constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int32_t>::max();
  const bool endless = look.count({"spec", "progressDeadlineSeconds"}, kNoDeadline) == kNoDeadline;
  if (!endless && !(has(look, "Progressing", "True") && reason == "NewReplicaSetAvailable")) {
    return in_progress("Deployment: condition Progressing", say(look.object, "Progressing"),
                       "Progressing with reason NewReplicaSetAvailable");
  }
  if (!has(look, "Available", "True")) {
    return in_progress("Deployment: condition Available", say(look.object, "Available"),
                       "Available=True");
  }
  return current("Deployment", fmt::format("{} replicas are available", wanted));
}

KStatus stateful_set(const Look& look) {
  if (look.text({"spec", "updateStrategy", "type"}) == "OnDelete") {
    return current("StatefulSet: updateStrategy", "it is updated OnDelete");
  }
  const std::int64_t wanted = look.count({"spec", "replicas"}, 1);
  const std::int64_t all = look.count({"status", "replicas"});
  if (auto less =
          first_short("StatefulSet", {{"replicas", all, wanted, "replicas are there"},
                                      {"readyReplicas", look.count({"status", "readyReplicas"}),
                                       wanted, "replicas are ready"}})) {
    return *less;
  }
  if (auto more = extra("StatefulSet", all, wanted)) return *more;
  const auto partition =
      integer_at(look.object, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  if (partition.value_or(0) > 0) {
    const std::int64_t above = std::max<std::int64_t>(0, wanted - *partition);
    if (auto less = first_short(
            "StatefulSet", {{"updatedReplicas", look.count({"status", "updatedReplicas"}), above,
                             "replicas above the partition are updated"}})) {
      return *less;
    }
    return current("StatefulSet: partition",
                   fmt::format("{} replicas above it are updated", above));
  }
  if (auto less =
          first_short("StatefulSet", {{"currentReplicas", look.count({"status", "currentReplicas"}),
                                       wanted, "replicas are of the current revision"}})) {
    return *less;
  }
  const std::string now = look.text({"status", "currentRevision"});
  const std::string update = look.text({"status", "updateRevision"});
  if (now != update) {
    return in_progress("StatefulSet: updateRevision",
                       fmt::format("the current revision is {}", now), update);
  }
  return current("StatefulSet", fmt::format("{} replicas are ready", wanted));
}

KStatus daemon_set(const Look& look) {
  if (!integer_at(look.object, {"status", "observedGeneration"})) {
    return in_progress("DaemonSet: observedGeneration", "its controller has not seen it yet",
                       "status.observedGeneration");
  }
  const auto desired = integer_at(look.object, {"status", "desiredNumberScheduled"});
  if (!desired) {
    return in_progress("DaemonSet: desiredNumberScheduled", "it is absent",
                       "status.desiredNumberScheduled");
  }
  const auto at = [&](const char* field) { return look.count({"status", field}); };
  if (auto less = first_short(
          "DaemonSet",
          {{"currentNumberScheduled", at("currentNumberScheduled"), *desired, "Pods are scheduled"},
           {"updatedNumberScheduled", at("updatedNumberScheduled"), *desired, "Pods are updated"},
           {"numberAvailable", at("numberAvailable"), *desired, "Pods are available"},
           {"numberReady", at("numberReady"), *desired, "Pods are ready"}})) {
    return *less;
  }
  return current("DaemonSet", fmt::format("{} Pods are ready", *desired));
}

KStatus replica_set(const Look& look) {
  if (has(look, "ReplicaFailure", "True")) {
    return in_progress("ReplicaSet: condition ReplicaFailure", say(look.object, "ReplicaFailure"),
                       "no ReplicaFailure");
  }
  const std::int64_t wanted = look.count({"spec", "replicas"}, 1);
  const auto at = [&](const char* field) { return look.count({"status", field}); };
  if (auto less = first_short(
          "ReplicaSet",
          {{"fullyLabeledReplicas", at("fullyLabeledReplicas"), wanted, "replicas are labelled"},
           {"availableReplicas", at("availableReplicas"), wanted, "replicas are available"},
           {"readyReplicas", at("readyReplicas"), wanted, "replicas are ready"}})) {
    return *less;
  }
  if (auto more = extra("ReplicaSet", at("replicas"), wanted)) return *more;
  return current("ReplicaSet", fmt::format("{} replicas are ready", wanted));
}

std::string crash_looping(const Json& pod) {
  std::vector<std::string> names;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const auto& one : base::items_at(pod, {"status", list})) {
      if (base::string_at(one, {"state", "waiting", "reason"}) == "CrashLoopBackOff") {
        names.push_back(base::string_at(one, {"name"}));
      }
    }
  }
  return base::join(names, ", ");
}

// Nobody knows whether it will be scheduled yet: a node may just be on its way.
KStatus unschedulable(const Look& look) {
  const std::string message = say(look.object, "PodScheduled");
  const auto created = base::parse_rfc3339(look.text({"metadata", "creationTimestamp"}));
  if (created.ok() && look.now < *created + kSchedulingTime) {
    KStatus out = in_progress("Pod: condition PodScheduled", message, "PodScheduled=True");
    out.changes_at = *created + kSchedulingTime;
    return out;
  }
  return failed("Pod: condition PodScheduled", message, "PodScheduled=True");
}

KStatus running_pod(const Look& look) {
  if (has(look, "Ready", "True")) return current("Pod: condition Ready", "it is ready");
  if (const std::string names = crash_looping(look.object); !names.empty()) {
    return failed("Pod: CrashLoopBackOff", "containers that crash again and again: " + names,
                  "Ready=True");
  }
  return in_progress("Pod: condition Ready", say(look.object, "Ready"), "Ready=True");
}

KStatus pod(const Look& look) {
  const std::string phase = look.text({"status", "phase"});
  if (phase == "Succeeded") return current("Pod: phase", "it has succeeded");
  if (phase == "Failed") {
    std::string message = "phase is Failed";
    for (const char* field : {"reason", "message"}) {
      if (const auto text = look.text({"status", field}); !text.empty()) message += ", " + text;
    }
    return look.options.strict
               ? failed("Pod: phase (strict)", message, "phase Running or Succeeded")
               : current("Pod: phase", message);
  }
  if (phase == "Running") return running_pod(look);
  const Json* scheduled = find_condition(look.object, "PodScheduled");
  if (phase == "Pending" && scheduled != nullptr && status_of(*scheduled) == "False" &&
      base::string_at(*scheduled, {"reason"}) == "Unschedulable") {
    return unschedulable(look);
  }
  return in_progress("Pod: phase", "phase is " + (phase.empty() ? "absent" : phase),
                     "phase Running, Ready=True");
}

KStatus job(const Look& look) {
  if (has(look, "Complete", "True")) return current("Job: condition Complete", "it is complete");
  if (has(look, "Failed", "True")) {
    return failed("Job: condition Failed", say(look.object, "Failed"), "Complete=True");
  }
  if (base::bool_at(look.object, {"spec", "suspend"}) && has(look, "Suspended", "True")) {
    return current("Job: spec.suspend", "it is suspended");
  }
  if (look.text({"status", "startTime"}).empty()) {
    return in_progress("Job: startTime", "it has not started", "Complete=True");
  }
  const std::string seen =
      fmt::format("{} of {} completions ({} active, {} failed)",
                  look.count({"status", "succeeded"}), look.count({"spec", "completions"}, 1),
                  look.count({"status", "active"}), look.count({"status", "failed"}));
  if (look.options.strict) return in_progress("Job: running (strict)", seen, "Complete=True");
  return current("Job: startTime", "it has started: " + seen);
}

// At least one point, each with an address.
bool has_ingress_points(const Json& object) {
  const Json& points = base::items_at(object, {"status", "loadBalancer", "ingress"});
  return !points.empty() && std::all_of(points.begin(), points.end(), [](const Json& point) {
    return !base::string_at(point, {"ip"}).empty() || !base::string_at(point, {"hostname"}).empty();
  });
}

KStatus service(const Look& look) {
  if (look.text({"spec", "type"}) != "LoadBalancer") {
    return current("Service", "it needs no load balancer");
  }
  if (look.text({"spec", "clusterIP"}).empty()) {
    return in_progress("Service: clusterIP", "spec.clusterIP is absent", "an address");
  }
  if (look.options.strict && !has_ingress_points(look.object)) {
    return in_progress("Service: loadBalancer.ingress (strict)",
                       "status.loadBalancer has no ingress point with an address",
                       "an ingress point with ip or hostname");
  }
  return current("Service: clusterIP", "it has an address");
}

KStatus claim(const Look& look) {
  const std::string phase = look.text({"status", "phase"});
  if (phase == "Bound") return current("PersistentVolumeClaim: phase", "it is bound");
  return in_progress("PersistentVolumeClaim: phase",
                     "phase is " + (phase.empty() ? "absent" : phase), "Bound");
}

KStatus budget(const Look& look) {
  if (integer_at(look.object, {"status", "observedGeneration"})) {
    return current("PodDisruptionBudget: observedGeneration", "its numbers are computed");
  }
  return in_progress("PodDisruptionBudget: observedGeneration",
                     "its controller has not seen it yet", "status.observedGeneration");
}

KStatus definition(const Look& look) {
  if (has(look, "NamesAccepted", "False")) {
    return failed("CustomResourceDefinition: condition NamesAccepted",
                  say(look.object, "NamesAccepted"), "Established=True");
  }
  if (has(look, "Established", "True")) {
    return current("CustomResourceDefinition: condition Established", "it is established");
  }
  const Json* established = find_condition(look.object, "Established");
  const std::string rule = "CustomResourceDefinition: condition Established";
  if (established != nullptr && status_of(*established) == "False" &&
      base::string_at(*established, {"reason"}) != "Installing") {
    return failed(rule, say(look.object, "Established"), "Established=True");
  }
  return in_progress(rule, say(look.object, "Established"), "Established=True");
}

KStatus always(const Look& look) {
  return current(look.text({"kind"}), "it exists");
}

using Rule = KStatus (*)(const Look&);
struct KindRule {
  std::string_view group;
  std::string_view kind;
  Rule rule;
};
constexpr KindRule kKindRules[] = {
    {"apps", "Deployment", deployment},
    {"apps", "StatefulSet", stateful_set},
    {"apps", "DaemonSet", daemon_set},
    {"apps", "ReplicaSet", replica_set},
    {"", "Pod", pod},
    {"", "PersistentVolumeClaim", claim},
    {"", "Service", service},
    {"", "Secret", always},
    {"", "ConfigMap", always},
    {"batch", "Job", job},
    {"batch", "CronJob", always},
    {"policy", "PodDisruptionBudget", budget},
    {"apiextensions.k8s.io", "CustomResourceDefinition", definition},
};

std::string group_of(const Json& object) {
  return std::string(core::group_of(base::string_at(object, {"apiVersion"})));
}

// Groups of kinds that the API server itself brings; many of them never have a status.
bool is_builtin_group(std::string_view group) {
  constexpr std::array<std::string_view, 24> kGroups = {"",
                                                        "apps",
                                                        "batch",
                                                        "autoscaling",
                                                        "policy",
                                                        "extensions",
                                                        "admissionregistration.k8s.io",
                                                        "apiextensions.k8s.io",
                                                        "apiregistration.k8s.io",
                                                        "authentication.k8s.io",
                                                        "authorization.k8s.io",
                                                        "certificates.k8s.io",
                                                        "coordination.k8s.io",
                                                        "discovery.k8s.io",
                                                        "events.k8s.io",
                                                        "flowcontrol.apiserver.k8s.io",
                                                        "internal.apiserver.k8s.io",
                                                        "networking.k8s.io",
                                                        "node.k8s.io",
                                                        "rbac.authorization.k8s.io",
                                                        "resource.k8s.io",
                                                        "scheduling.k8s.io",
                                                        "storage.k8s.io",
                                                        "storagemigration.k8s.io"};
  return std::find(kGroups.begin(), kGroups.end(), group) != kGroups.end();
}

std::optional<KStatus> generation(const Look& look) {
  const Json* observed = base::find(look.object, {"status", "observedGeneration"});
  const auto wanted = integer_at(look.object, {"metadata", "generation"});
  if (observed == nullptr || !wanted) return std::nullopt;
  const bool readable =
      observed->is_number_integer() ||
      (look.options.strict && integer_at(look.object, {"status", "observedGeneration"}));
  if (!readable) {
    return KStatus{KState::unknown,
                   "observedGeneration",
                   "status.observedGeneration is no integer (--strict reads a number in a text)",
                   std::to_string(*wanted),
                   {}};
  }
  const auto seen = integer_at(look.object, {"status", "observedGeneration"});
  if (*seen == *wanted) return std::nullopt;
  return in_progress("observedGeneration", fmt::format("the status is of generation {}", *seen),
                     fmt::format("generation {}", *wanted));
}

std::optional<KStatus> standard_conditions(const Look& look) {
  if (has(look, "Reconciling", "True")) {
    return in_progress("condition Reconciling", say(look.object, "Reconciling"),
                       "Reconciling absent or False");
  }
  if (has(look, "Stalled", "True")) {
    return failed("condition Stalled", say(look.object, "Stalled"), "Stalled absent or False");
  }
  return std::nullopt;
}

KStatus by_ready(const Look& look) {
  if (const Json* ready = find_condition(look.object, "Ready")) {
    if (status_of(*ready) == "True") return current("condition Ready", "it is ready");
    return in_progress("condition Ready", say(look.object, "Ready"), "Ready=True");
  }
  const bool silent = base::find(look.object, {"status"}) == nullptr;
  if (look.options.strict && silent && !is_builtin_group(group_of(look.object))) {
    const auto created = base::parse_rfc3339(look.text({"metadata", "creationTimestamp"}));
    if (created.ok() && look.now < *created + look.options.fresh) {
      KStatus out =
          in_progress("no status (strict)", "it has no status yet",
                      "a status, or " + base::format_duration(look.options.fresh) + " without one");
      out.changes_at = *created + look.options.fresh;
      return out;
    }
  }
  return current("no rule", silent ? "it exists and has no status" : "it exists");
}

}  // namespace

std::string_view to_string(KState state) {
  switch (state) {
    case KState::in_progress: return "InProgress";
    case KState::failed: return "Failed";
    case KState::current: return "Current";
    case KState::terminating: return "Terminating";
    case KState::not_found: return "NotFound";
    case KState::unknown: break;
  }
  return "Unknown";
}

KStatus kstatus(const Json* object, WallTime now, const KStatusOptions& options) {
  if (object == nullptr) {
    return {KState::not_found, "exists", "it does not exist", "it exists", {}};
  }
  const Look look{*object, now, options};
  if (!look.text({"metadata", "deletionTimestamp"}).empty()) {
    return {KState::terminating, "deletionTimestamp", "it is being deleted", "not deleted", {}};
  }
  if (auto late = generation(look)) return *late;
  if (auto told = standard_conditions(look)) return *told;
  const std::string group = group_of(*object);
  const std::string kind = look.text({"kind"});
  for (const auto& one : kKindRules) {
    if (one.group == group && one.kind == kind) return one.rule(look);
  }
  return by_ready(look);
}

}  // namespace kubewatch::runtime
