#include "http/listen_address.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "fixture.hpp"
#include "http/dead_peers.hpp"
#include "http/listen_socket.hpp"
#include "http/stall.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::http;

TEST_CASE("an address to listen on is read in one way by every flag") {
  CHECK(parse_listen_address("127.0.0.1:9090")->address == "127.0.0.1");
  CHECK(parse_listen_address("127.0.0.1:9090")->port == 9090);
  CHECK(parse_listen_address("localhost:0")->port == 0);
  CHECK(parse_listen_address("[::1]:0")->address == "::1");
  CHECK(parse_listen_address(":80")->address == "::");
  CHECK(parse_listen_address("0.0.0.0:80")->address == "0.0.0.0");
  for (const char* wrong : {"", "9090", "127.0.0.1", "a:b", "::1:80", "x:70000", "x:", "x:-1",
                            "[]:1", "[::1:1", "x:1 "}) {
    INFO(wrong);
    CHECK_FALSE(parse_listen_address(wrong).ok());
  }
}

TEST_CASE("an address to listen on is shown as it is given") {
  for (const char* text : {"127.0.0.1:9090", "[::1]:0", "[::]:80", "localhost:1"}) {
    CHECK(to_string(*parse_listen_address(text)) == text);
  }
}

TEST_CASE("who listens everywhere is reached here") {
  CHECK(reached_at("0.0.0.0") == "127.0.0.1");
  CHECK(reached_at("::") == "127.0.0.1");
  CHECK(reached_at("::1") == "::1");
  CHECK(reached_at("192.0.2.1") == "192.0.2.1");
}

TEST_CASE("plain HTTP is served on loopback only") {
  CHECK(check_plain_http(true, "127.0.0.1").ok());
  CHECK(check_plain_http(false, "0.0.0.0").ok());
  const auto refused = check_plain_http(true, "0.0.0.0");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("not for 0.0.0.0") != std::string::npos);
}

namespace {

bool has_ipv6() {
  return listen_on("::1", 0).ok();
}

// Both loopback addresses lead to who listens there, or the one that this machine has.
void check_reached_by_both(const std::string& address) {
  loop::EventLoop loop;
  ServerOptions options;
  options.address = address;
  const auto server = serve(
      loop,
      [](const ServerRequest&, const std::shared_ptr<Responder>& to) {
        to->respond(200, {}, "here");
      },
      options);
  const auto transport = make_transport(loop);
  std::vector<std::string> hosts = {"127.0.0.1"};
  if (has_ipv6()) hosts.emplace_back("[::1]");
  for (const std::string& host : hosts) {
    INFO(host);
    const auto answer =
        get(loop, *transport, "http://" + host + ":" + std::to_string(server->port()) + "/");
    REQUIRE(answer.ok());
    CHECK(answer->body == "here");
  }
}

}  // namespace

TEST_CASE("a server without an address is reached by IPv4 and by IPv6") {
  check_reached_by_both(parse_listen_address(":0")->address);
}

TEST_CASE("localhost is listened to by IPv4 and by IPv6, with one port") {
  check_reached_by_both(parse_listen_address("localhost:0")->address);
  check_reached_by_both("LocalHost");
  const auto listening = listen_on("localhost", 0);
  REQUIRE(listening.ok());
  CHECK(listening->port != 0);
  CHECK(listening->sockets.size() == (has_ipv6() ? 2U : 1U));
}

TEST_CASE("a port of localhost that is taken on one address is not listened to on the other") {
  const std::string address = has_ipv6() ? "::1" : "127.0.0.1";
  const auto taken = listen_on(address, 0);
  REQUIRE(taken.ok());
  const auto refused = listen_on("localhost", taken->port);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::unavailable);
  // Somebody else may have it on the other address.
  const std::string& said = refused.error().message();
  CHECK(said.starts_with("cannot listen on "));
  CHECK(said.find(":" + std::to_string(taken->port) + ": the address is in use") !=
        std::string::npos);
}

TEST_CASE("a client that has vanished is noticed, and one that pauses is the server's to give up") {
  const auto listener = listen_on("127.0.0.1", 0);
  REQUIRE(listener.ok());
  const loop::Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(listener->port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
  const loop::Fd served(::accept4(listener->sockets.front().get(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(served.get() >= 0);
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof(value);
    CHECK(::getsockopt(served.get(), level, name, &value, &size) == 0);
    return value;
  };
  CHECK(option(SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(IPPROTO_TCP, TCP_KEEPIDLE) == kKeepAliveIdleSeconds);
  CHECK(option(IPPROTO_TCP, TCP_KEEPINTVL) == kKeepAliveIntervalSeconds);
  CHECK(option(IPPROTO_TCP, TCP_USER_TIMEOUT) == kServedUserTimeoutMs);
  // And is looked at now and then only.
  CHECK(Duration{kServedUserTimeoutMs} >= Stall::kLimit + Duration{30000});
}
