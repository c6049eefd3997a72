#include "hooks/metrics_server.hpp"

#include <chrono>
#include <utility>

#include "hooks/metric_text.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kBeat{5000};
constexpr std::size_t kMaxBody = 4096;
// Whoever reads its answer slowly keeps a copy of it.
constexpr std::size_t kMaxMetricsConnections = 64;

// Not the loop's, which stands still as long as a turn: that it does is what is looked for.
TimePoint fresh_now() {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now());
}

}  // namespace

MetricsServer::MetricsServer(loop::EventLoop& loop, MetricsSource source, HealthLimits limits)
    : loop_(loop), source_(std::move(source)), limits_(limits), last_beat_(fresh_now()) {}

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(loop::EventLoop& loop,
                                                             const http::ListenAddress& where,
                                                             MetricsSource source,
                                                             HealthLimits limits) {
  http::ServerOptions options;
  options.address = where.address;
  options.port = where.port;
  // Who is reached over the network is called by many names: a Service's, a node's, that of a
  // forwarded port. Only what listens for this machine alone has to fear a web page that calls it
  // by a name of its own (DNS rebinding).
  options.any_host = !http::is_loopback_host(where.address);
  options.max_body_bytes = kMaxBody;
  options.max_connections = kMaxMetricsConnections;
  std::unique_ptr<MetricsServer> out(new MetricsServer(loop, std::move(source), limits));
  KW_ASSIGN(out->server_,
            http::Server::listen(loop, std::move(options),
                                 [raw = out.get()](http::ServerRequest request,
                                                   std::shared_ptr<http::Responder> responder) {
                                   raw->answer(request, *responder);
                                 }));
  out->beat();
  return out;
}

void MetricsServer::beat() {
  last_beat_ = fresh_now();
  timer_ = loop_.after(kBeat, [this] { beat(); });
}

void MetricsServer::answer(const http::ServerRequest& request, http::Responder& responder) const {
  http::Headers headers;
  headers.set("Content-Type", "text/plain; charset=utf-8");
  if (request.method != "GET" && request.method != "HEAD") {
    headers.set("Allow", "GET");
    return responder.respond(405, headers, "only GET\n");
  }
  const EngineFacts facts = source_.facts();
  const HealthReport ready = judge_readiness(facts, limits_);
  if (request.path == "/metrics") {
    headers.set("Content-Type", std::string(kMetricTextType));
    return responder.respond(200, headers, source_.text(facts, ready.ok()));
  }
  if (request.path == "/metrics/hooks" && source_.hooks_alone) {
    headers.set("Content-Type", std::string(kMetricTextType));
    return responder.respond(200, headers, source_.hooks_alone());
  }
  if (request.path == "/readyz") {
    return responder.respond(ready.ok() ? 200 : 503, headers, ready.text());
  }
  if (request.path == "/healthz" || request.path == "/livez") {
    // The beat comes every few seconds: only what is beyond it is a loop that does not turn.
    const HealthReport alive = judge_liveness(facts, fresh_now() - last_beat_, limits_);
    return responder.respond(alive.ok() ? 200 : 503, headers, alive.text());
  }
  responder.respond(404, headers, "known: /metrics /healthz /readyz\n");
}

}  // namespace kubewatch::hooks
