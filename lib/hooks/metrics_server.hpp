// Serves /metrics, /healthz and /readyz of an engine over HTTP. Thin: what they say is metrics' and
// health's. Owned by cli; the engine must outlive it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "hooks/facts.hpp"
#include "hooks/health.hpp"
#include "http/listen_address.hpp"
#include "http/server.hpp"

namespace kubewatch::hooks {

// Any engine that tells its facts and writes its metrics down.
struct MetricsSource {
  std::function<EngineFacts()> facts;
  std::function<std::string(const EngineFacts&, bool ready)> text;
  std::function<std::string()> hooks_alone{};  // /metrics/hooks; empty: there is no such page
};
// The engine must outlive it.
template <class AnyEngine>
MetricsSource metrics_of(AnyEngine& engine) {
  return {[&engine] { return engine.facts(); },
          [&engine](const EngineFacts& facts, bool ready) {
            return engine.metrics_text(facts, ready);
          }};
}

class MetricsServer {
 public:
  // Errors: unavailable, when the address cannot be bound.
  static Result<std::unique_ptr<MetricsServer>> listen(loop::EventLoop& loop,
                                                       const http::ListenAddress& where,
                                                       MetricsSource source, HealthLimits limits);
  std::uint16_t port() const { return server_->port(); }

 private:
  MetricsServer(loop::EventLoop& loop, MetricsSource source, HealthLimits limits);
  void beat();
  void answer(const http::ServerRequest& request, http::Responder& responder) const;

  loop::EventLoop& loop_;
  MetricsSource source_;
  HealthLimits limits_;
  TimePoint last_beat_;
  loop::Timer timer_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kubewatch::hooks
