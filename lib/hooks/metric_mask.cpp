#include "hooks/metric_mask.hpp"

namespace kubewatch::hooks {

bool mask_metric(const SecretMask& mask, const std::string& name, MetricLabels& labels) {
  if (mask.mask(name) != name) return false;
  for (auto& [label, value] : labels) {
    if (mask.mask(label) != label) return false;
    value = mask.mask(value);
  }
  return true;
}

}  // namespace kubewatch::hooks
