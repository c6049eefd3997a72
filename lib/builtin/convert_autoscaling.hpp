// HorizontalPodAutoscalers between their two versions: autoscaling/v1 knows a CPU utilization alone
// and keeps all else of autoscaling/v2 as JSON in annotations. Defaults are not applied, apart from
// the metric that v1 means by none. Pure; any JSON may come, what does not fit is left out.
#pragma once

#include "base/json.hpp"

namespace kubewatch::builtin {

inline constexpr const char* kAutoscalers = "horizontalpodautoscalers.autoscaling";

Json autoscaler_to_v1(Json v2);
Json autoscaler_to_v2(Json v1);
// v2 never shows the annotations in which v1 keeps its fields, and the time of each condition.
void complete_autoscaler(Json& v2);

}  // namespace kubewatch::builtin
