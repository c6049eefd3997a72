// Metrics as text in the Prometheus exposition format. The only user of prometheus-cpp: its text
// serializer. Its registry is not used, for series there neither expire nor are counted.
#pragma once

#include <string>
#include <vector>

#include "hooks/metric_store.hpp"

namespace kubewatch::hooks {

inline constexpr std::string_view kMetricTextType = "text/plain; version=0.0.4; charset=utf-8";

std::string metric_text(const std::vector<MetricFamily>& families);

}  // namespace kubewatch::hooks
