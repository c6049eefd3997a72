// Serves /metrics, /healthz and /readyz of an engine over HTTP. Thin: what they say is metrics' and
// health's. Owned by cli; the engine must outlive it.
#pragma once

#include <memory>
#include <string>

#include "hooks/engine.hpp"
#include "hooks/health.hpp"
#include "http/listen_address.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

class MetricsServer {
 public:
  // Errors: unreachable, when the address cannot be bound.
  static Result<std::unique_ptr<MetricsServer>> listen(loop::EventLoop& loop,
                                                       const http::ListenAddress& where,
                                                       Engine& engine, HealthLimits limits);
  std::uint16_t port() const { return server_->port(); }

 private:
  MetricsServer(loop::EventLoop& loop, Engine& engine, HealthLimits limits);
  void beat();
  void answer(const http::ServerRequest& request, http::Responder& responder) const;

  loop::EventLoop& loop_;
  Engine& engine_;
  HealthLimits limits_;
  TimePoint last_beat_;
  loop::Timer timer_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kubewatch::hooks
