// Metrics of hooks before they are kept: anybody may read /metrics, so they hold no value of a
// Secret. Pure.
#pragma once

#include <string>

#include "hooks/metric_store.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

// Why a metric is not taken; part of a sentence.
inline constexpr const char* kSecretInMetricName =
    "its name, or the name of one of its labels, holds or may hold a value of a Secret";

// Values in labels become ***. False: a name holds one, and what it is then called would be no name
// any more, and perhaps another metric's: it is not to be taken, nor its name told.
bool mask_metric(const SecretMask& mask, const std::string& name, MetricLabels& labels);

}  // namespace kubewatch::hooks
