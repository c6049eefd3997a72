// Pod Security Standards: what a namespace asks for by its labels, and how Pods are judged by it,
// in the words of a kube-apiserver 1.36. Not who is judged when, nor what follows from it: that is
// apiserver/pod_security. Pure; any JSON may come, null is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/field_error.hpp"

namespace kubewatch::builtin {

// A stricter one is greater.
enum class SecurityLevel { privileged, baseline, restricted };

struct SecurityStandard {
  SecurityLevel level = SecurityLevel::privileged;
  std::optional<std::int64_t> minor;  // of version 1; none: the latest

  bool operator==(const SecurityStandard&) const = default;
  std::string text() const;  // "restricted:v1.30"
};

// Without what is only audited: there is no audit log.
struct SecurityPolicy {
  SecurityStandard enforce;
  SecurityStandard warn;
};

// A label that cannot be read is told; what is enforced is the strictest then.
SecurityPolicy security_policy(const Json& ns, schema::FieldErrors& errors);
// Whether the Pods that are there may violate what is enforced from now on.
bool asks_for_more(const SecurityStandard& before, const SecurityStandard& after);

// A check that a Pod does not pass: "hostPort", "container "c" uses hostPort 80".
struct SecurityFault {
  std::string reason;
  std::string detail;
};

// `pod`: a Pod, or a template of Pods.
std::vector<SecurityFault> security_faults(const SecurityStandard& standard, const Json& pod);
// What it violates: "PodSecurity "baseline:latest": hostPort (container "c" uses hostPort 80)"; ""
// where it is nothing.
std::string security_violation(const SecurityStandard& standard, const Json& pod);

// Whether what became of a Pod is to be judged anew: others of its fields cannot change.
bool is_security_update(const Json& live, const Json& pod);

inline constexpr std::size_t kMostJudgedPods = 3000;
// Of Pods that are there when a namespace asks for more; empty where all comply. The server gives
// up after a second as well.
std::vector<std::string> warnings_of_pods(const std::string& ns, const SecurityStandard& standard,
                                          const std::vector<const Json*>& pods);

}  // namespace kubewatch::builtin
