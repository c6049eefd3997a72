#include "cli/controller/metrics_flags.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "base/log.hpp"
#include "cli/flags.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::cli {

void MetricsFlags::bind(CLI::App& app, bool runs) {
  app.add_option("--metrics", address_, "serve /metrics, /healthz and /readyz there")
      ->type_name("ADDRESS:PORT");
  add_duration(app, "--max-stale", max_stale_,
               "not ready while a watch has failed for longer (default 5m, 0 = never)");
  if (!runs) return;
  add_duration(app, "--max-wait", max_wait_,
               "not ready while an object has waited for its run for longer (default 10m)");
  add_duration(app, "--liveness", liveness_,
               "not alive when objects are due and no run has ended for so long (default 15m, or "
               "twice the longest timeout)");
}

Result<void> MetricsFlags::check() const {
  if (!address_.empty()) {
    if (auto parsed = http::parse_listen_address(address_); !parsed.ok()) {
      return std::move(parsed.error()).with_context("--metrics");
    }
    return {};
  }
  if (max_stale_ || max_wait_ || liveness_) {
    return Error(ErrorKind::invalid,
                 "--max-stale, --max-wait and --liveness are about /readyz and /healthz: give "
                 "--metrics ADDRESS:PORT as well");
  }
  return {};
}

hooks::HealthLimits MetricsFlags::limits() const {
  hooks::HealthLimits out;
  if (max_stale_) out.max_stale = *max_stale_;
  if (max_wait_) out.max_wait = *max_wait_;
  out.liveness = liveness_;
  return out;
}

Result<std::unique_ptr<hooks::MetricsServer>> MetricsFlags::serve(
    loop::EventLoop& loop, hooks::MetricsSource source) const {
  if (address_.empty()) return std::unique_ptr<hooks::MetricsServer>();
  KW_ASSIGN(const auto where, http::parse_listen_address(address_));
  KW_ASSIGN(auto server, hooks::MetricsServer::listen(loop, where, std::move(source), limits()));
  base::log_info("serving metrics",
                 {{"address", where.address}, {"port", std::to_string(server->port())}});
  return server;
}

Result<std::optional<hooks::TraceTarget>> trace_target() {
  KW_ASSIGN(auto target,
            hooks::trace_target([](const std::string& name) -> std::optional<std::string> {
              const char* value = std::getenv(name.c_str());
              return value == nullptr ? std::nullopt : std::optional<std::string>(value);
            }));
  if (!target) return target;
  hooks::choose_trace_proxy(client::ConfigEnvironment::from_process(), *target);
  KW_TRY(hooks::read_trace_tls(*target));
  for (const std::string& warning : target->warnings) base::log_warn("traces: " + warning);
  return target;
}

}  // namespace kubewatch::cli
