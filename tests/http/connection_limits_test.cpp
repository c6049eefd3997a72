// Who has not sent a request in time, and who gives way when there are too many: the rules, and a
// server that keeps them.
#include "http/connection_limits.hpp"

#include <algorithm>
#include <array>

#include "fixture.hpp"

namespace kubewatch::http {
namespace {

using Connection = ConnectionLimits::Connection;

// Names for connections: nothing looks behind them.
Connection connection(std::size_t number) {
  static std::array<char, 8> marks;
  return reinterpret_cast<Connection>(&marks.at(number));
}

TimePoint at(int milliseconds) {
  return TimePoint(Duration(milliseconds));
}

ConnectionLimitOptions small() {
  ConnectionLimitOptions out;
  out.connections = 3;
  out.pending_bytes = 100;
  out.headers = Duration{10};
  out.request = Duration{60};
  return out;
}

TEST_CASE("headers and the whole request have deadlines that reading does not move") {
  ConnectionLimits limits(small());
  const Connection one = connection(0);
  limits.opened(one, at(0));
  CHECK(limits.next_deadline() == at(10));
  limits.read(one, "GET / HTTP/1.1\r\nA: b\r", at(9));
  CHECK(limits.next_deadline() == at(10));
  CHECK_FALSE(limits.must_go(at(9)));
  CHECK(limits.must_go(at(10)) == one);
  // The end of the headers may be cut anywhere.
  limits.read(one, "\n\r", at(9));
  limits.read(one, "\nbody", at(9));
  CHECK(limits.next_deadline() == at(60));
  limits.read(one, "more", at(59));
  CHECK_FALSE(limits.must_go(at(59)));
  CHECK(limits.must_go(at(60)) == one);
}

TEST_CASE("an answer has no deadline, nor has the time until the next request begins") {
  ConnectionLimits limits(small());
  const Connection one = connection(0);
  limits.opened(one, at(0));
  limits.read(one, "GET / HTTP/1.1\n\n", at(1));
  limits.is_whole(one);
  CHECK_FALSE(limits.owes_request(one));
  limits.read(one, "sent ahead", at(2));
  CHECK_FALSE(limits.next_deadline());
  limits.answered(one);
  CHECK(limits.owes_request(one));
  CHECK_FALSE(limits.next_deadline());
  limits.read(one, "G", at(1000));
  CHECK(limits.next_deadline() == at(1010));
  limits.closed(one);
  CHECK_FALSE(limits.next_deadline());
  CHECK_FALSE(limits.must_go(at(5000)));
}

TEST_CASE("of too many connections the one goes that owes its request the longest") {
  ConnectionLimits limits(small());
  for (std::size_t i = 0; i < 3; ++i) limits.opened(connection(i), at(0));
  CHECK_FALSE(limits.must_go(at(1)));
  limits.is_whole(connection(0));
  limits.opened(connection(3), at(1));
  CHECK(limits.must_go(at(1)) == connection(1));
  limits.closed(connection(1));
  CHECK_FALSE(limits.must_go(at(1)));
  // One that waits for its next request is as new as its last answer.
  limits.answered(connection(0));
  limits.opened(connection(4), at(2));
  CHECK(limits.must_go(at(2)) == connection(2));
  limits.is_whole(connection(2));
  limits.is_whole(connection(3));
  limits.is_whole(connection(0));
  CHECK(limits.must_go(at(2)) == connection(4));
}

TEST_CASE("of too many bytes of requests that are not whole the oldest such request goes") {
  ConnectionLimits limits(small());
  for (std::size_t i = 0; i < 3; ++i) limits.opened(connection(i), at(0));
  limits.read(connection(1), std::string(60, 'x'), at(1));
  limits.read(connection(2), std::string(41, 'x'), at(1));
  CHECK(limits.must_go(at(1)) == connection(1));
  limits.is_whole(connection(2));
  CHECK_FALSE(limits.must_go(at(1)));
}

TEST_CASE("of one request no more counts than can be held of it") {
  ConnectionLimitOptions options = small();
  options.request_bytes = 70;
  ConnectionLimits limits(options);
  for (std::size_t i = 0; i < 2; ++i) limits.opened(connection(i), at(0));
  limits.read(connection(0), std::string(20, 'x'), at(1));
  for (int i = 0; i < 5; ++i) limits.read(connection(1), std::string(60, 'x'), at(1));
  CHECK_FALSE(limits.must_go(at(1)));
  limits.read(connection(0), std::string(20, 'x'), at(1));
  CHECK(limits.must_go(at(1)) == connection(0));
  limits.closed(connection(1));
  CHECK_FALSE(limits.must_go(at(1)));
}

TEST_CASE("how many connections a server may have depends on the descriptors there are") {
  CHECK(connections_among_others(1024) == 256);
  CHECK(connections_among_others(65536) == 512);
  CHECK(connections_among_others(2) == 1);
  CHECK(connections_for_watchers(1024) == 896);
  CHECK(connections_for_watchers(65536) == 16384);
}

using Held = std::shared_ptr<Responder>;

void say_ok(const ServerRequest& request, const Held& responder) {
  responder->respond(200, {}, "to " + request.path);
}

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

// Sends the same again and again, until it cannot.
class Trickle {
 public:
  Trickle(loop::EventLoop& loop, const RawClient& client, std::string text)
      : loop_(loop), client_(client), text_(std::move(text)) {
    go_on();
  }

 private:
  void go_on() {
    ::send(client_.fd(), text_.data(), text_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    timer_ = loop_.after(Duration{10}, [this] { go_on(); });
  }

  loop::EventLoop& loop_;
  const RawClient& client_;
  std::string text_;
  loop::Timer timer_;
};

TEST_CASE("a client that trickles its headers is closed, also on a kept connection") {
  loop::EventLoop loop;
  ServerOptions options;
  options.header_timeout = Duration{60};
  const auto server = serve(loop, say_ok, options);
  RawClient first(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n");
  const Trickle slow(loop, first, "X: y\r\n");
  CHECK(loop.run_until([&] { return first.closed; }, kLimit));
  CHECK(first.received.empty());
  RawClient kept(loop, server->port(), kGet);
  REQUIRE(loop.run_until([&] { return kept.status() == 200; }, kLimit));
  kept.say("GET / HTTP/1.1\r\n");
  const Trickle again(loop, kept, "X: y\r\n");
  CHECK(loop.run_until([&] { return kept.closed; }, kLimit));
  CHECK(kept.received.find("HTTP/1.1", 1) == std::string::npos);
}

TEST_CASE("a body may take longer than headers, and no longer than a request") {
  loop::EventLoop loop;
  ServerOptions options;
  options.header_timeout = Duration{50};
  options.request_timeout = Duration{1000};
  const auto server = serve(loop, say_ok, options);
  RawClient client(loop, server->port(),
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
  const Trickle slow(loop, client, "x");
  CHECK_FALSE(loop.run_until([&] { return client.closed; }, Duration{150}));
  CHECK(loop.run_until([&] { return client.closed; }, kLimit));
  CHECK(client.received.empty());
}

TEST_CASE("requests that are sent ahead are answered in turn") {
  loop::EventLoop loop;
  const auto server = serve(loop, say_ok);
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  RawClient client(loop, server->port(), "GET /a" + host + "GET /b" + host + "GET /c");
  const auto has = [&](const char* text) {
    return client.received.find(text) != std::string::npos;
  };
  CHECK(loop.run_until([&] { return has("to /b"); }, kLimit));
  client.say(host);
  CHECK(loop.run_until([&] { return has("to /c"); }, kLimit));
}

TEST_CASE("a body that is far too long gets its 413, and costs nobody else") {
  loop::EventLoop loop;
  const auto server = serve(loop, say_ok);
  const std::string post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ";
  RawClient innocent(loop, server->port(), post + "4\r\n\r\nxx");
  constexpr std::size_t kSize = 160U << 20U;  // more than all requests may hold together
  RawClient greedy(loop, server->port(), post + std::to_string(kSize) + "\r\n\r\n");
  const std::string junk(256U << 10U, 'j');
  std::size_t left = kSize;
  REQUIRE(loop.run_until(
      [&] {
        const ssize_t sent = ::send(greedy.fd(), junk.data(), std::min(left, junk.size()),
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) left -= static_cast<std::size_t>(sent);
        return left == 0 || greedy.closed;
      },
      kLimit));
  CHECK(loop.run_until([&] { return greedy.status() == 413; }, kLimit));
  CHECK_FALSE(innocent.closed);
  innocent.say("xx");
  CHECK(loop.run_until([&] { return innocent.status() == 200; }, kLimit));
}

TEST_CASE("too many connections cost those that have sent no request, and no watch") {
  loop::EventLoop loop;
  ServerOptions options;
  options.max_connections = 2;
  std::vector<Held> streams;
  const auto server = serve(
      loop,
      [&streams](const ServerRequest&, Held responder) {
        responder->begin(200, {});
        streams.push_back(std::move(responder));
      },
      options);
  RawClient silent(loop, server->port(), "");
  RawClient first(loop, server->port(), kGet);
  REQUIRE(loop.run_until([&] { return first.status() == 200; }, kLimit));
  CHECK_FALSE(silent.closed);
  RawClient second(loop, server->port(), kGet);
  CHECK(loop.run_until([&] { return second.status() == 200; }, kLimit));
  CHECK(loop.run_until([&] { return silent.closed; }, kLimit));
  // All have sent theirs: the new one goes.
  RawClient third(loop, server->port(), "");
  CHECK(loop.run_until([&] { return third.closed; }, kLimit));
  for (const Held& stream : streams) stream->send("still here");
  for (const RawClient* client : {&first, &second}) {
    CHECK(loop.run_until([&] { return client->received.find("still here") != std::string::npos; },
                         kLimit));
  }
}

TEST_CASE("a client that comes and goes at once leaves nothing behind") {
  loop::EventLoop loop;
  ServerOptions options;
  options.max_connections = 2;
  const auto server = serve(loop, say_ok, options);
  for (int i = 0; i < 20; ++i) RawClient(loop, server->port(), "");
  RawClient client(loop, server->port(), kGet);
  CHECK(loop.run_until([&] { return client.status() == 200; }, kLimit));
}

}  // namespace
}  // namespace kubewatch::http
