// The one status that most people mean by "ready", for any kind: the rules of kstatus (cli-utils),
// with the rule that judged it, what is seen and what is wanted. Strict leaves out its known false
// positives. Pure: time is an argument.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/time.hpp"

namespace kubewatch::runtime {

enum class KState { in_progress, failed, current, terminating, not_found, unknown };
// "InProgress", "Failed", ...
std::string_view to_string(KState state);

struct KStatusOptions {
  // A failed Pod failed, a running Job is in progress, a load balancer needs an ingress point, an
  // object of a custom kind without status is in progress for `fresh` after its creation, a textual
  // observedGeneration is read as the number it is.
  bool strict = false;
  Duration fresh{10000};
};

struct KStatus {
  KState status = KState::unknown;
  std::string rule;     // what judged it: "Deployment: availableReplicas"
  std::string message;  // what is seen, one line: "1 of 3 replicas are available"
  std::string wanted;   // what would be current: "3 available replicas"
  // Time alone changes the answer then.
  std::optional<WallTime> changes_at;
};

// `object` null: not_found.
KStatus kstatus(const Json* object, WallTime now, const KStatusOptions& options = {});

}  // namespace kubewatch::runtime
