// Why an object is not as it should be, in one line: the failing container with its exit code, an
// image that cannot be pulled, what the scheduler says, a claim that is not bound, the last warning
// Event. Pure: whoever reports reads the objects.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::runtime {

// What is wrong with one Pod; "" when nothing is.
std::string pod_cause(const Json& pod);
// Names of the claims that a Pod mounts.
std::vector<std::string> claims_of(const Json& pod);
// "PersistentVolumeClaim data is Pending"; "" when it is bound.
std::string claim_cause(const Json& claim);
// The newest Warning about one of these uids, of events.k8s.io/v1 or v1: "FailedMount: no such
// secret (4 times)"; "" when there is none.
std::string event_cause(const std::vector<Json>& events, const std::vector<std::string>& uids);
// The Pods that an owner with this uid has, newest first: directly, or through one of `between`
// (ReplicaSets).
std::vector<Json> pods_owned_by(const std::vector<Json>& pods, const std::string& uid,
                                const std::vector<Json>& between);
bool is_owned_by(const Json& object, const std::string& uid);
// One line, at most `max` bytes, cut at a character.
std::string cause_line(std::string text, std::size_t max = 300);

}  // namespace kubewatch::runtime
