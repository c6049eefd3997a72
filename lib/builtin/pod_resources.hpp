// What requests and limits of a Pod follow from others of its spec: requests from limits, those of
// the Pod from those of its containers, its class of service. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

void default_pod_resources(Json& spec);
// "Guaranteed", "Burstable" or "BestEffort".
std::string qos_class(const Json& spec);

}  // namespace kubewatch::builtin
