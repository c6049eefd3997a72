// One HTTP request to a server of this machine, as `curl` would send it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "http/transport.hpp"
#include "loop/event_loop.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

namespace kubewatch::test {

// Status 0: no answer.
inline http::Response post(loop::EventLoop& loop, std::uint16_t port, const std::string& path,
                           std::string body, const std::string& token = "",
                           const std::string& method = "POST") {
  auto transport = http::make_curl_transport(loop, {{}, "test", "", ""});
  REQUIRE(transport.ok());
  http::Request request;
  request.method = method;
  request.url = "http://127.0.0.1:" + std::to_string(port) + path;
  request.body = std::move(body);
  if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
  std::optional<http::Response> answer;
  const auto call =
      http::fetch(**transport, std::move(request), [&](Result<http::Response> response) {
        answer = response.ok() ? std::move(*response) : http::Response{};
      });
  REQUIRE(loop.run_until([&] { return answer.has_value(); }, kLimit));
  return *answer;
}

}  // namespace kubewatch::test
