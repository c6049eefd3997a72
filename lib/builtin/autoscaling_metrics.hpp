// What autoscaling/v1 keeps of an autoscaler in annotations: metrics, their values, conditions and
// the behavior, between the JSON of autoscaling/v2 and texts as the server writes them. Which
// annotations those are is convert_autoscaling.hpp's. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::builtin {

// "" where there is nothing to keep.
std::string metrics_text(const Json& v2);
std::string statuses_text(const Json& v2);
std::string conditions_text(const Json& v2);
std::string behavior_text(const Json& v2);

// Null where it is none: a value has another type than the server reads.
Json metrics_of_v1(const Json& v1);
Json statuses_of_v1(const Json& v1);
Json conditions_of_v1(const Json& v1);
Json behavior_of_v1(const Json& v1);

}  // namespace kubewatch::builtin
