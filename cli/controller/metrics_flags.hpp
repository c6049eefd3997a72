// --metrics and what /readyz and /healthz go by; and tracing, which the environment asks for. Owned
// by the verb that runs an engine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "hooks/engine.hpp"
#include "hooks/metrics_server.hpp"

namespace CLI {
class App;
}

namespace kubewatch::cli {

class MetricsFlags {
 public:
  // `runs`: the verb runs hooks, so that there is something to wait for.
  void bind(CLI::App& app, bool runs = true);
  // Errors: invalid.
  Result<void> check() const;
  // Null when it was not asked for. Errors: invalid, unreachable.
  Result<std::unique_ptr<hooks::MetricsServer>> serve(loop::EventLoop& loop,
                                                      hooks::MetricsSource source) const;

 private:
  hooks::HealthLimits limits() const;

  std::string address_;
  std::optional<Duration> max_stale_;
  std::optional<Duration> max_wait_;
  std::optional<Duration> liveness_;
};

// From this process's environment, with warnings logged. Errors: those of hooks::trace_target() and
// hooks::read_trace_tls().
Result<std::optional<hooks::TraceTarget>> trace_target();

}  // namespace kubewatch::cli
