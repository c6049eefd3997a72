// Who may ask for the metrics, and by which name.
#include "hooks/metrics_server.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "http/transport.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

MetricsSource source_of(std::function<EngineFacts()> facts) {
  return {std::move(facts), [](const EngineFacts&, bool) { return std::string("up 1\n"); }};
}

// Of GET `path`, to 127.0.0.1, of a server that listens on `address`.
int status_for(const std::string& address, const std::string& host,
               const std::string& path = "/metrics",
               const MetricsSource& source = source_of([] { return EngineFacts{}; }),
               HealthLimits limits = {}) {
  loop::EventLoop loop;
  auto server = MetricsServer::listen(loop, {address, 0}, source, limits);
  REQUIRE(server.ok());
  auto transport = http::make_curl_transport(loop, {{}, "test", "", ""});
  REQUIRE(transport.ok());
  http::Request request;
  request.url = "http://127.0.0.1:" + std::to_string((*server)->port()) + path;
  request.headers.set("Host", host);
  std::optional<int> status;
  const auto call = http::fetch(**transport, std::move(request),
                                [&](auto answer) { status = answer.ok() ? answer->status : 0; });
  REQUIRE(loop.run_until([&] { return status.has_value(); }, kLimit));
  return *status;
}

}  // namespace

TEST_CASE("metrics that listen beyond this machine are told by whatever name it is called") {
  CHECK(status_for("0.0.0.0", "metrics.shop.svc:9090") == 200);
  CHECK(status_for("::", "node-7.example") == 200);
}

TEST_CASE("metrics of this machine alone are told to no page that calls it by another name") {
  CHECK(status_for("127.0.0.1", "localhost:9090") == 200);
  CHECK(status_for("127.0.0.1", "rebound.example") == 403);
  CHECK(status_for("localhost", "rebound.example") == 403);
}

TEST_CASE("/healthz goes by a clock that does not stand still with the loop") {
  HealthLimits limits;
  CHECK(status_for("127.0.0.1", "localhost", "/healthz") == 200);
  limits.turn = Duration{20};
  // All of it in the turn that answers.
  const auto busy = source_of([] {
    const auto end = std::chrono::steady_clock::now() + Duration{40};
    while (std::chrono::steady_clock::now() < end) {
    }
    return EngineFacts{};
  });
  CHECK(status_for("127.0.0.1", "localhost", "/healthz", busy, limits) == 503);
}
