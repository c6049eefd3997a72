// The status of controllers that make Pods from a template: apps, and ReplicationControllers.
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

void check_counts(const Field& status, const Values& keys) {
  for (const auto& key : keys) status[key].not_negative();
}

void check_at_most(const Field& status, const char* key, const char* most,
                   const std::string& told) {
  const std::int64_t count = status[key].number_or(0);
  if (count <= status[most].number_or(0)) return;
  status[key].invalid_as(std::to_string(count), "cannot be greater than " + told);
}

void check_parts(const Field& status, const std::vector<const char*>& parts,
                 const char* told_ready) {
  for (const char* part : parts) check_at_most(status, part, "replicas", "status.replicas");
  check_at_most(status, "availableReplicas", "readyReplicas", told_ready);
}

void check_collisions(const Field& status, const Json* live) {
  const Json* known = live != nullptr ? base::find(*live, {"status", "collisionCount"}) : nullptr;
  const auto before = Field(known, "", status.errors()).number();
  const Field count = status["collisionCount"];
  if (!before || (count.present() && count.number_or(0) >= *before)) return;
  count.invalid_as(std::to_string(count.number_or(0)), "cannot be decremented");
}

}  // namespace

void check_deployment_status(const Field& object, const Json* live) {
  const Field status = object["status"];
  check_counts(status, {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas",
                        "availableReplicas", "unavailableReplicas", "terminatingReplicas",
                        "collisionCount"});
  check_parts(status, {"updatedReplicas", "readyReplicas", "availableReplicas"}, "readyReplicas");
  check_collisions(status, live);
}

// A ReplicationController has no terminatingReplicas.
void check_replica_status(const Field& object, const Json* /*live*/) {
  const Field status = object["status"];
  check_counts(status, {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                        "observedGeneration", "terminatingReplicas"});
  check_parts(status, {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
              "readyReplicas");
}

void check_stateful_set_status(const Field& object, const Json* live) {
  const Field status = object["status"];
  check_counts(status, {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
                        "availableReplicas", "observedGeneration", "collisionCount"});
  check_parts(status, {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
              "status.readyReplicas");
  check_collisions(status, live);
}

void check_daemon_set_status(const Field& object, const Json* live) {
  const Field status = object["status"];
  check_counts(status, {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled",
                        "numberReady", "observedGeneration", "updatedNumberScheduled",
                        "numberAvailable", "numberUnavailable", "collisionCount"});
  check_collisions(status, live);
}

}  // namespace kubewatch::builtin
