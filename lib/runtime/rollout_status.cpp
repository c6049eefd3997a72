#include "runtime/rollout_status.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "core/resource.hpp"
#include "runtime/object_status.hpp"
#include "runtime/stock_conditions.hpp"

namespace kubewatch::runtime {

namespace {

KStatus from(const std::string& kind, const Verdict& verdict) {
  KStatus out;
  out.rule = "rollout of a " + kind;
  out.message = verdict.reason;
  if (verdict.is_met()) {
    out.status = KState::current;
    out.message = "it is rolled out";
    return out;
  }
  out.status = verdict.is_failed() ? KState::failed : KState::in_progress;
  out.wanted = "every replica of the present template and available";
  return out;
}

// Kinds of other controllers that count replicas as workloads do (Rollout, CloneSet, ...).
KStatus by_counters(const Json& object, WallTime now, KStatusOptions options) {
  options.strict = true;
  KStatus out = kstatus(&object, now, options);
  if (out.status != KState::current) return out;
  if (base::find(object, {"metadata", "generation"}) != nullptr &&
      base::find(object, {"status", "observedGeneration"}) == nullptr) {
    return {KState::in_progress,
            "rollout: observedGeneration",
            "its controller does not tell which generation it has seen",
            "status.observedGeneration",
            {}};
  }
  const auto wanted = integer_at(object, {"spec", "replicas"});
  for (const char* field : {"updatedReplicas", "readyReplicas", "availableReplicas"}) {
    const auto seen = integer_at(object, {"status", field});
    if (!wanted || !seen || *seen >= *wanted) continue;
    return {KState::in_progress,
            fmt::format("rollout: {}", field),
            fmt::format("{} is {}", field, *seen),
            fmt::format("{}={}", field, *wanted),
            {}};
  }
  return out;
}

}  // namespace

KStatus rollout_status(const Json* object, WallTime now, const KStatusOptions& options) {
  const bool deleting =
      object != nullptr && !base::string_at(*object, {"metadata", "deletionTimestamp"}).empty();
  if (object == nullptr || deleting) return kstatus(object, now, options);
  const std::string kind = base::string_at(*object, {"kind"});
  if (core::group_of(base::string_at(*object, {"apiVersion"})) == "apps") {
    if (kind == "Deployment") {
      return from(kind, conditions::deployment_rolled_out().look(object));
    }
    if (kind == "StatefulSet") {
      return from(kind, conditions::stateful_set_rolled_out().look(object));
    }
    if (kind == "DaemonSet") {
      return from(kind, conditions::daemon_set_rolled_out().look(object));
    }
  }
  return by_counters(*object, now, options);
}

}  // namespace kubewatch::runtime
