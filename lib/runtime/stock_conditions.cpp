#include "runtime/stock_conditions.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "runtime/object_status.hpp"

namespace kubewatch::runtime::conditions {

namespace {

using LookAt = Verdict (*)(const Json&);

// A condition that an absent object cannot meet.
Condition of_present(std::string text, LookAt look,
                     Condition::Reads reads = Condition::Reads::content) {
  return {std::move(text),
          [look](const Json* object) {
            return object == nullptr ? Verdict::not_yet("it does not exist") : look(*object);
          },
          reads};
}

std::int64_t count_at(const Json& object, std::initializer_list<std::string_view> path,
                      std::int64_t otherwise = 0) {
  return integer_at(object, path).value_or(otherwise);
}

bool deleting(const Json& object) {
  return !base::string_at(object, {"metadata", "deletionTimestamp"}).empty();
}

// A Pod that has ended never runs again.
std::optional<Verdict> ended(const Json& pod) {
  const std::string phase = base::string_at(pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") return std::nullopt;
  std::string reason = "the Pod has ended: phase is " + phase;
  for (const char* field : {"reason", "message"}) {
    const std::string text = base::string_at(pod, {"status", field});
    if (!text.empty()) reason += ", " + text;
  }
  return Verdict::failed(std::move(reason));
}

Verdict look_at_running(const Json& pod) {
  if (const auto end = ended(pod)) return *end;
  const std::string phase = base::string_at(pod, {"status", "phase"});
  if (phase == "Running") return Verdict::met();
  return Verdict::not_yet(phase.empty() ? "the Pod has no phase yet" : "phase is " + phase);
}

Verdict look_at_ready(const Json& pod) {
  if (const auto end = ended(pod)) return *end;
  if (condition_is_true(pod, "Ready")) return Verdict::met();
  return Verdict::not_yet(describe_condition(pod, "Ready"));
}

Verdict look_at_job(const Json& job) {
  if (condition_is_true(job, "Failed")) return Verdict::failed(describe_condition(job, "Failed"));
  if (condition_is_true(job, "Complete")) return Verdict::met();
  return Verdict::not_yet(
      fmt::format("{} of {} completions ({} active, {} failed)",
                  count_at(job, {"status", "succeeded"}), count_at(job, {"spec", "completions"}, 1),
                  count_at(job, {"status", "active"}), count_at(job, {"status", "failed"})));
}

// Its controller has not yet seen this generation; absent observedGeneration: it saw none.
std::optional<Verdict> unobserved(const Json& object) {
  const std::int64_t current = count_at(object, {"metadata", "generation"});
  const std::int64_t observed = count_at(object, {"status", "observedGeneration"});
  if (observed >= current) return std::nullopt;
  return Verdict::not_yet(
      fmt::format("generation {} is not observed yet (the status is of {})", current, observed));
}

Verdict look_at_deployment(const Json& deployment) {
  if (const auto late = unobserved(deployment)) return *late;
  const Json* progressing = find_condition(deployment, "Progressing");
  if (progressing != nullptr &&
      base::string_at(*progressing, {"reason"}) == "ProgressDeadlineExceeded") {
    return Verdict::failed(describe_condition(deployment, "Progressing"));
  }
  const std::int64_t wanted = count_at(deployment, {"spec", "replicas"}, 1);
  const std::int64_t all = count_at(deployment, {"status", "replicas"});
  const std::int64_t updated = count_at(deployment, {"status", "updatedReplicas"});
  const std::int64_t available = count_at(deployment, {"status", "availableReplicas"});
  if (updated < wanted) {
    return Verdict::not_yet(fmt::format("{} of {} replicas are updated", updated, wanted));
  }
  if (all > updated) {
    return Verdict::not_yet(fmt::format("{} old replicas are still there", all - updated));
  }
  if (available < updated) {
    return Verdict::not_yet(fmt::format("{} of {} replicas are available", available, updated));
  }
  return Verdict::met();
}

// OnDelete: whoever deletes the Pods decides when they are replaced.
std::optional<Verdict> on_delete(const Json& object) {
  if (base::string_at(object, {"spec", "updateStrategy", "type"}) != "OnDelete") {
    return std::nullopt;
  }
  return Verdict::failed("updateStrategy is OnDelete: nothing is rolled out by itself");
}

Verdict look_at_stateful_set(const Json& set) {
  if (const auto never = on_delete(set)) return *never;
  if (const auto late = unobserved(set)) return *late;
  const std::int64_t wanted = count_at(set, {"spec", "replicas"}, 1);
  const std::int64_t ready = count_at(set, {"status", "readyReplicas"});
  if (ready < wanted) {
    return Verdict::not_yet(fmt::format("{} of {} replicas are ready", ready, wanted));
  }
  const auto partition = integer_at(set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  const std::int64_t updated = count_at(set, {"status", "updatedReplicas"});
  // At 0 as well: while a rollback goes on, both revisions are the same from its beginning.
  if (partition) {
    const std::int64_t of = std::max<std::int64_t>(0, wanted - *partition);
    if (updated < of) {
      const char* which = *partition > 0 ? "replicas above the partition" : "replicas";
      return Verdict::not_yet(fmt::format("{} of {} {} are updated", updated, of, which));
    }
    if (*partition > 0) return Verdict::met();
  }
  if (base::string_at(set, {"status", "updateRevision"}) !=
      base::string_at(set, {"status", "currentRevision"})) {
    return Verdict::not_yet(fmt::format("{} of {} replicas are updated", updated, wanted));
  }
  return Verdict::met();
}

Verdict look_at_daemon_set(const Json& set) {
  if (const auto never = on_delete(set)) return *never;
  if (const auto late = unobserved(set)) return *late;
  const std::int64_t wanted = count_at(set, {"status", "desiredNumberScheduled"});
  const std::int64_t updated = count_at(set, {"status", "updatedNumberScheduled"});
  const std::int64_t available = count_at(set, {"status", "numberAvailable"});
  if (updated < wanted) {
    return Verdict::not_yet(fmt::format("{} of {} Pods are updated", updated, wanted));
  }
  if (available < wanted) {
    return Verdict::not_yet(fmt::format("{} of {} Pods are available", available, wanted));
  }
  return Verdict::met();
}

// At least one point, and each with an address: a list that is there and empty is no address.
Verdict look_at_points(const Json& object) {
  const Json& points = base::items_at(object, {"status", "loadBalancer", "ingress"});
  if (points.empty()) return Verdict::not_yet("status.loadBalancer has no ingress point");
  for (const Json& point : points) {
    if (base::string_at(point, {"ip"}).empty() && base::string_at(point, {"hostname"}).empty()) {
      return Verdict::not_yet("an ingress point has neither ip nor hostname");
    }
  }
  return Verdict::met();
}

Verdict look_at_service(const Json& service) {
  const std::string type = base::string_at(service, {"spec", "type"});
  if (type == "LoadBalancer") return look_at_points(service);
  return Verdict::failed(
      fmt::format("a Service of type {} gets no load balancer", type.empty() ? "ClusterIP" : type));
}

Verdict look_at_crd(const Json& crd) {
  if (deleting(crd)) return Verdict::failed("the CustomResourceDefinition is being deleted");
  if (condition_is_true(crd, "Established")) return Verdict::met();
  const Json* names = find_condition(crd, "NamesAccepted");
  const bool refused = names != nullptr && base::string_at(*names, {"status"}) == "False";
  return Verdict::not_yet(describe_condition(crd, refused ? "NamesAccepted" : "Established"));
}

Verdict look_at_namespace(const Json& object) {
  const std::string phase = base::string_at(object, {"status", "phase"});
  if (deleting(object) || phase == "Terminating") {
    return Verdict::failed("the namespace is being deleted");
  }
  if (phase == "Active") return Verdict::met();
  return Verdict::not_yet("phase is " + (phase.empty() ? "absent" : phase));
}

Verdict look_at_claim(const Json& claim) {
  const std::string phase = base::string_at(claim, {"status", "phase"});
  if (phase == "Bound") return Verdict::met();
  if (phase == "Lost") return Verdict::failed("its volume is lost");
  return Verdict::not_yet("phase is " + (phase.empty() ? "absent" : phase));
}

}  // namespace

Condition deleted(std::string uid) {
  return {"it is deleted",
          [uid = std::move(uid)](const Json* object) {
            if (object == nullptr) return Verdict::met();
            if (!uid.empty() && base::string_at(*object, {"metadata", "uid"}) != uid) {
              return Verdict::met();
            }
            return Verdict::not_yet(deleting(*object) ? "it is being deleted" : "it still exists");
          },
          Condition::Reads::metadata};
}

Condition created() {
  return of_present(
      "it exists", [](const Json&) { return Verdict::met(); }, Condition::Reads::metadata);
}

Condition crd_established() {
  return of_present("the CustomResourceDefinition is established", look_at_crd);
}
Condition pod_running() {
  return of_present("the Pod is running", look_at_running);
}
Condition pod_ready() {
  return of_present("the Pod is ready", look_at_ready);
}
Condition job_completed() {
  return of_present("the Job is complete", look_at_job);
}
Condition deployment_rolled_out() {
  return of_present("the Deployment is rolled out", look_at_deployment);
}
Condition stateful_set_rolled_out() {
  return of_present("the StatefulSet is rolled out", look_at_stateful_set);
}
Condition daemon_set_rolled_out() {
  return of_present("the DaemonSet is rolled out", look_at_daemon_set);
}
Condition load_balancer_provisioned() {
  return of_present("the load balancer is provisioned", look_at_service);
}
Condition ingress_provisioned() {
  return of_present("the Ingress is provisioned", look_at_points);
}
Condition namespace_active() {
  return of_present("the namespace is active", look_at_namespace);
}
Condition claim_bound() {
  return of_present("the claim is bound", look_at_claim);
}

}  // namespace kubewatch::runtime::conditions
