#include "hooks/metrics_server.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "hooks/metric_text.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kBeat{5000};

}  // namespace

Result<http::ServerOptions> parse_listen_address(const std::string& text) {
  const auto wrong = [&text] {
    return Error(ErrorKind::invalid,
                 fmt::format("\"{}\" is no ADDRESS:PORT, as in 127.0.0.1:9090", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong();
  std::string address = text.substr(0, colon);
  const char* end = text.data() + text.size();
  http::ServerOptions options;
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, options.port);
  if (error != std::errc() || stop != end) return wrong();
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string::npos) {
    return wrong();
  }
  options.address = address.empty() ? "0.0.0.0" : address;
  options.max_body_bytes = 4096;
  return options;
}

MetricsServer::MetricsServer(loop::EventLoop& loop, MetricsSource source, HealthLimits limits)
    : loop_(loop), source_(std::move(source)), limits_(limits), last_beat_(loop.now()) {}

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(loop::EventLoop& loop,
                                                             http::ServerOptions options,
                                                             MetricsSource source,
                                                             HealthLimits limits) {
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
  last_beat_ = loop_.now();
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
    const HealthReport alive = judge_liveness(facts, loop_.now() - last_beat_, limits_);
    return responder.respond(alive.ok() ? 200 : 503, headers, alive.text());
  }
  responder.respond(404, headers, "known: /metrics /healthz /readyz\n");
}

}  // namespace kubewatch::hooks
