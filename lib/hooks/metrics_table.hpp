// The metrics that kubewatch itself tells, as one table: the only place of their names, labels and
// buckets. /metrics, the man page kubewatch-metrics(7) and a golden test are made from it.
#pragma once

#include <string>
#include <vector>

#include "hooks/metric_store.hpp"

namespace kubewatch::hooks {

struct OwnMetric {
  MetricSpec spec;
  std::vector<std::string> labels;
};

const std::vector<OwnMetric>& own_metrics();
// What `reflect --metrics` tells besides those of watches, caches and the process.
const std::vector<OwnMetric>& reflect_metrics();
// Of a name in one of them. Precondition: it is there.
const MetricSpec& own_metric(const std::string& name);
// Both as text of a manual page, in man(7) macros.
std::string metrics_manual();
// And for a terminal.
std::string metrics_text();

}  // namespace kubewatch::hooks
