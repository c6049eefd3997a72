// What an engine tells the world about its runs besides logs and Events. Owned by engine; runs use
// it.
#pragma once

#include <memory>

#include "hooks/metrics.hpp"
#include "hooks/trace_exporter.hpp"

namespace kubewatch::hooks {

struct Telemetry {
  Metrics metrics;
  std::unique_ptr<TraceExporter> traces;  // null: not asked for
};

}  // namespace kubewatch::hooks
