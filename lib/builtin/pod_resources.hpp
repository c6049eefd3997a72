// What requests and limits of a Pod follow from others of its spec: requests from limits, those of
// the Pod from those of its containers, its class of service. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json.hpp"
#include "base/quantity.hpp"

namespace kubewatch::builtin {

void default_pod_resources(Json& spec);
// "Guaranteed", "Burstable" or "BestEffort".
std::string qos_class(const Json& spec);
// What it asks of its node: its containers together, unless the Pod itself says how much, and what
// it takes besides.
std::map<std::string, base::Quantity> pod_requests(const Json& spec);

}  // namespace kubewatch::builtin
