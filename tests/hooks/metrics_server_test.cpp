// Who may ask for the metrics, and by which name.
#include "hooks/metrics_server.hpp"

#include <optional>
#include <string>

#include "http/transport.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

// Of GET /metrics, to 127.0.0.1, of a server that listens on `address`.
int status_for(const std::string& address, const std::string& host) {
  loop::EventLoop loop;
  const MetricsSource source{[] { return EngineFacts{}; },
                             [](const EngineFacts&, bool) { return std::string("up 1\n"); }};
  auto server = MetricsServer::listen(loop, {address, 0}, source, {});
  REQUIRE(server.ok());
  auto transport = http::make_curl_transport(loop, {{}, "test", "", ""});
  REQUIRE(transport.ok());
  http::Request request;
  request.url = "http://127.0.0.1:" + std::to_string((*server)->port()) + "/metrics";
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
