// What the server refuses, and what a hostile or dead client cannot do to it.
#include <fcntl.h>
#include <sys/syscall.h>

#include "base/log.hpp"
#include "fixture.hpp"

namespace {
bool g_out_of_descriptors = false;
}

// In the place of libc's, for everybody in this program. To really have no descriptors is no way to
// test: UBSan opens a pipe to look at an object, and ends the program when it cannot.
extern "C" int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (!g_out_of_descriptors) {
    return static_cast<int>(syscall(SYS_accept4, fd, address, size, flags));
  }
  errno = EMFILE;
  return -1;
}

namespace kubewatch::http {
namespace {

using Held = std::shared_ptr<Responder>;

void say_ok(const ServerRequest& request, const Held& responder) {
  responder->respond(200, {}, "body of " + std::to_string(request.body.size()));
}

int status_for(loop::EventLoop& loop, const Server& server, const std::string& text) {
  RawClient client(loop, server.port(), text);
  const bool answered =
      loop.run_until([&] { return client.status() != 0 || client.closed; }, kLimit);
  REQUIRE(answered);
  return client.status();
}

TEST_CASE("requests are refused by Host, Origin, Content-Encoding and size") {
  loop::EventLoop loop;
  ServerOptions options;
  options.hosts = {"sandbox.example"};
  options.max_body_bytes = 1000;
  options.max_header_bytes = 4096;
  const auto server = serve(loop, say_ok, options);
  const std::string get = "GET / HTTP/1.1\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  struct Case {
    std::string text;
    int status;
  };
  const std::vector<Case> cases = {
      {get + "Host: localhost\r\n\r\n", 200},
      {get + "Host: 127.0.0.1:" + std::to_string(server->port()) + "\r\n\r\n", 200},
      {get + "Host: sandbox.example\r\n\r\n", 200},
      {get + "Host: evil.example\r\n\r\n", 403},
      {get + "Host: localhost.evil.example\r\n\r\n", 403},
      {get + "\r\n", 403},
      {"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 403},
      {get + "Host: localhost:80\r\nOrigin: http://localhost\r\n\r\n", 200},
      {get + "Host: localhost:8080\r\nOrigin: http://localhost:3000\r\n\r\n", 403},
      {get + "Host: localhost:8080\r\nOrigin: https://localhost:8080\r\n\r\n", 403},
      {get + "Host: localhost\r\nOrigin: https://evil.example\r\n\r\n", 403},
      {get + "Host: localhost\r\nOrigin: null\r\n\r\n", 403},
      {post + "Content-Length: 2\r\n\r\n{}", 200},
      {post + "Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}", 415},
      {post + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x'), 413},
      {post + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x') +
           "\r\n0\r\n\r\n",
       413},
      {post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200},
      {get + "Host: localhost\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", 400},
      {"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501},
      {"nonsense\r\n\r\n", 400},
  };
  for (const Case& c : cases) {
    INFO(c.text.substr(0, 120));
    CHECK(status_for(loop, *server, c.text) == c.status);
  }
}

TEST_CASE("what libevent refuses by itself is told in our words, or in its user's") {
  loop::EventLoop loop;
  ServerOptions options;
  options.max_body_bytes = 1000;
  const std::string host = " / HTTP/1.1\r\nHost: localhost\r\n";
  const std::string large = "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x');
  const auto answer = [&](const Server& server, const std::string& text) {
    RawClient client(loop, server.port(), text);
    REQUIRE(loop.run_until([&] { return client.closed; }, kLimit));
    return client.received;
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const auto plain = serve(loop, say_ok, options);
  const std::string sentence = answer(*plain, "POST" + host + large);
  CHECK(says(sentence, "HTTP/1.1 413 Request Entity Too Large\r\n"));
  CHECK(says(sentence, "Content-Type: text/plain; charset=utf-8\r\n"));
  CHECK(says(sentence, "Connection: close\r\n"));
  CHECK(says(sentence, "\r\n\r\nThe request's body is longer"));
  const std::string unknown = answer(*plain, "BREW" + host + "\r\n");
  CHECK(says(unknown, " 501 Not Implemented\r\n"));
  CHECK(unknown.ends_with("\r\n\r\nThe server does not know the request's method.\n"));
  const std::string unread = answer(*plain, "nonsense\r\n\r\n");
  CHECK(says(unread, " 400 Bad Request\r\n"));
  CHECK(unread.ends_with("\r\n\r\nThis is no request that the server can read.\n"));
  options.own_page = [](int status) {
    return OwnPage{status == 501 ? 405 : status, "text/x-test", "own " + std::to_string(status)};
  };
  const auto own = serve(loop, say_ok, options);
  const std::string page = answer(*own, "POST" + host + large);
  CHECK(says(page, "Content-Type: text/x-test\r\n"));
  CHECK(says(page, "Content-Length: 7\r\n"));
  CHECK(page.ends_with("\r\n\r\nown 413"));
  CHECK(says(answer(*own, "BREW" + host + "\r\n"), "HTTP/1.1 405 Method Not Allowed\r\n"));
  // What is said in front of a body, and answers of the handler, are left alone.
  const std::string waits = "POST" + host + "Expect: 100-continue\r\nContent-Length: 2\r\n";
  const std::string twice =
      waits + "\r\n{}" + "GET" + host + "\r\nPOST" + host + "Connection: close\r\n" + large;
  const std::string several = answer(*own, twice);
  CHECK(says(several, "body of 2"));
  CHECK(says(several, "body of 0"));
  CHECK(several.ends_with("\r\n\r\nown 413"));
}

TEST_CASE("a server for any host answers to each name and to none, and to no page of others") {
  loop::EventLoop loop;
  ServerOptions options;
  options.any_host = true;
  const auto server = serve(loop, say_ok, options);
  const std::string get = "GET / HTTP/1.1\r\n";
  CHECK(status_for(loop, *server, get + "Host: metrics.shop.svc:9090\r\n\r\n") == 200);
  CHECK(status_for(loop, *server, "GET / HTTP/1.0\r\n\r\n") == 200);
  CHECK(status_for(loop, *server, get + "Host: a\r\nHost: b\r\n\r\n") == 400);
  CHECK(status_for(loop, *server,
                   get + "Host: evil.example\r\nOrigin: http://evil.example\r\n\r\n") == 403);
}

TEST_CASE("a request whose end or host is doubtful is refused, and what follows is none") {
  loop::EventLoop loop;
  int handled = 0;
  const auto server = serve(loop, [&handled](const ServerRequest&, const Held& responder) {
    ++handled;
    responder->respond(200, {}, "ok");
  });
  const std::string host = "Host: localhost\r\n";
  const std::string post = "POST / HTTP/1.1\r\n" + host;
  const std::string next = "GET /next HTTP/1.1\r\n" + host + "\r\n";
  const std::string cases[] = {
      "GET / HTTP/1.1\r\n" + host + "Host: localhost\r\n\r\n",
      "GET http://localhost/ HTTP/1.1\r\n" + host + "Host: evil.example\r\n\r\n",
      post + "Content-Length: 0\r\nContent-Length: " + std::to_string(next.size()) + "\r\n\r\n",
      post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Content-Length : " + std::to_string(next.size()) + "\r\n\r\n",
      post + "Content-Length: +0\r\n\r\n",
      post + "Content-Length: 0x0\r\n\r\n",
      post + "Content-Length: " + std::string(30, '0') + "\r\n\r\n",
      post + "Content-Length:\r\n\r\n",
      post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: gzip\r\n\r\n",
      post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HEAD / HTTP/1.1\r\n" + host + "Content-Length: " + std::to_string(next.size()) + "\r\n\r\n",
      "GET / HTTP/1.1\r\n" + host + "X Y: z\r\n\r\n",
      "GET / HTTP/1.0\r\n" + host + "X Y: z\r\nConnection: keep-alive\r\n\r\n",
  };
  for (const std::string& text : cases) {
    INFO(text);
    RawClient client(loop, server->port(), text + next);
    REQUIRE(loop.run_until([&] { return client.closed; }, kLimit));
    CHECK(client.status() == 400);
    CHECK(client.received.find("HTTP/1.", 1) == std::string::npos);
  }
  CHECK(handled == 0);
  const std::string good[] = {
      post + "content-length:\t0\r\n\r\n",
      post + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
      "HEAD / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n",
  };
  for (const std::string& text : good) {
    INFO(text);
    CHECK(status_for(loop, *server, text) == 200);
  }
}

TEST_CASE("our client sees 413 for a body above the limit, and not a reset") {
  loop::EventLoop loop;
  ServerOptions options;
  options.max_body_bytes = 1000;
  const auto server = serve(loop, say_ok, options);
  const auto transport = make_transport(loop);
  Request request;
  request.method = "PUT";
  request.url = url_of(*server);
  request.body.assign(5U << 20U, 'x');
  const auto answer = get(loop, *transport, std::move(request));
  if (!answer.ok()) FAIL(answer.error().render());
  CHECK(answer->status == 413);
}

TEST_CASE("a port that is taken is named in the error") {
  loop::EventLoop loop;
  const auto first = serve(loop, say_ok);
  ServerOptions options;
  options.port = first->port();
  const auto second = Server::listen(loop, options, say_ok);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().kind() == ErrorKind::unavailable);
  CHECK(second.error().message().find("127.0.0.1:" + std::to_string(first->port())) !=
        std::string::npos);
}

TEST_CASE("a client that never finishes its headers is closed, a streaming one is not") {
  loop::EventLoop loop;
  ServerOptions options;
  options.header_timeout = Duration{50};
  Held responder;
  const auto server = serve(
      loop,
      [&responder](const ServerRequest&, Held r) {
        responder = std::move(r);
        responder->begin(200, {});
      },
      options);
  RawClient stream(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return stream.status() == 200; }, kLimit));
  RawClient slow(loop, server->port(), "GET / HTTP/1.1\r\nHos");
  REQUIRE(loop.run_until([&] { return slow.closed; }, kLimit));
  CHECK(slow.received.empty());
  CHECK_FALSE(loop.run_until([&] { return stream.closed; }, Duration{100}));
  responder->send("still here");
  CHECK(loop.run_until([&] { return stream.received.find("still here") != std::string::npos; },
                       kLimit));
}

TEST_CASE("the timeout is for headers only: a kept connection stays open beyond it") {
  loop::EventLoop loop;
  ServerOptions options;
  options.header_timeout = Duration{50};
  const auto server = serve(loop, say_ok, options);
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return client.status() == 200; }, kLimit));
  CHECK_FALSE(loop.run_until([&] { return client.closed; }, Duration{120}));
}

TEST_CASE("a TLS client that never shakes hands is closed") {
  loop::EventLoop loop;
  const auto certificate =
      generate_certificate({"localhost"}, {}, WallTime{std::chrono::hours(24)});
  REQUIRE(certificate.ok());
  ServerOptions options;
  options.tls = ServerTls{certificate->certificate_pem, certificate->key_pem};
  options.header_timeout = Duration{50};
  const auto server = serve(loop, say_ok, options);
  RawClient client(loop, server->port(), "\x16\x03\x01");
  CHECK(loop.run_until([&] { return client.closed; }, kLimit));
}

TEST_CASE("a server may listen on IPv6, and answers to its address") {
  loop::EventLoop loop;
  ServerOptions options;
  options.address = "::1";
  auto server = Server::listen(loop, options, say_ok);
  if (!server.ok()) {
    // This machine has no IPv6.
    CHECK(server.error().message().find("[::1]:0") != std::string::npos);
    return;
  }
  const auto transport = make_transport(loop);
  const std::string url = "http://[::1]:" + std::to_string((*server)->port()) + "/";
  const auto answer = get(loop, *transport, url);
  if (!answer.ok()) FAIL(answer.error().render());
  CHECK(answer->status == 200);
}

TEST_CASE("a client that sends without end while it is streamed to fills no memory") {
  loop::EventLoop loop;
  Held responder;
  const auto server = serve(loop, [&responder](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
  });
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return client.status() == 200; }, kLimit));
  // The kernel's buffers fill, and then the client waits: it never gets rid of 64 MiB.
  const std::string junk(64U << 10U, 'j');
  std::size_t taken = 0;
  const int fd = client.fd();
  for (int i = 0; i < 1024; ++i) {
    loop.run_until([] { return false; }, Duration{0});
    const ssize_t sent = ::send(fd, junk.data(), junk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) taken += static_cast<std::size_t>(sent);
  }
  CHECK(taken < (32U << 20U));
  responder->send("alive");
  CHECK(loop.run_until([&] { return client.received.find("alive") != std::string::npos; }, kLimit));
}

TEST_CASE("a client that sends without end while its answer waits for it fills no memory") {
  loop::EventLoop loop;
  const bool streamed = GENERATE(false, true);
  const std::string big(32U << 20U, 'b');
  int handled = 0;
  const auto server = serve(loop, [&](const ServerRequest&, const Held& responder) {
    if (++handled > 1) return responder->respond(200, {}, "next");
    if (!streamed) return responder->respond(200, {}, big);
    responder->begin(200, {});
    responder->send(big);
  });
  const std::string get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  RawClient client(loop, server->port(), get);
  client.stop_reading();
  REQUIRE(loop.run_until([&] { return handled == 1; }, kLimit));
  std::string ahead;
  while (ahead.size() < (64U << 10U)) ahead += get;
  std::size_t taken = 0;
  for (int full = 0; full < 50 && taken < (64U << 20U); ++full) {
    loop.run_until([] { return false; }, Duration{0});
    const std::size_t begun = taken % ahead.size();  // in the middle of one, as the kernel took it
    const ssize_t sent = ::send(client.fd(), ahead.data() + begun, ahead.size() - begun,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) continue;
    taken += static_cast<std::size_t>(sent);
    full = 0;
  }
  CHECK(taken < (32U << 20U));
  CHECK(handled == 1);
  // They are requests all the same, once it has taken its answer.
  client.start_reading(loop);
  CHECK(loop.run_until([&] { return client.received.ends_with("next"); }, kLimit));
}

TEST_CASE("clients that send many requests at once hold back no timer, and get all their answers") {
  loop::EventLoop loop;
  constexpr std::size_t kClients = 60;
  constexpr std::size_t kRequests = 100;
  std::size_t handled = 0;
  const auto server = serve(loop, [&handled](const ServerRequest&, const Held& responder) {
    ++handled;
    responder->respond(200, {}, "!");
  });
  std::string ahead;
  for (std::size_t i = 0; i < kRequests; ++i) ahead += "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.emplace_back(loop, server->port(), ahead).stop_reading();
  }
  // From when they are at it on.
  REQUIRE(loop.run_until([&] { return handled >= kClients; }, kLimit));
  std::size_t before = 0;
  const loop::Timer timer = loop.after(Duration{5}, [&] { before = handled; });
  REQUIRE(loop.run_until([&] { return before > 0; }, kLimit));
  CHECK(before < kClients * kRequests * 3 / 4);
  for (RawClient& client : clients) client.start_reading(loop);
  CHECK(loop.run_until([&] { return handled == kClients * kRequests; }, kLimit));
  const auto answers = [](const RawClient& client) {
    return std::count(client.received.begin(), client.received.end(), '!');
  };
  for (const RawClient& client : clients) {
    CHECK(loop.run_until([&] { return answers(client) == kRequests; }, kLimit));
  }
}

TEST_CASE("a client that says no more than its request gets all of a long answer") {
  loop::EventLoop loop;
  const std::string big(32U << 20U, 'b');
  const auto server = serve(
      loop, [&](const ServerRequest&, const Held& responder) { responder->respond(200, {}, big); });
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.stop_reading();
  shutdown(client.fd(), SHUT_WR);
  loop.run_until([] { return false; }, Duration{50});
  client.start_reading(loop);
  REQUIRE(loop.run_until([&] { return client.closed; }, kLimit));
  CHECK(client.received.ends_with(big));
}

TEST_CASE("a watcher that does not read is seen in backlog() and cut off in the end") {
  loop::EventLoop loop;
  Held responder;
  bool gone = false;
  const auto server = serve(loop, [&](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
    responder->on_gone([&gone] { gone = true; });
  });
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return client.status() == 200; }, kLimit));
  client.stop_reading();
  const std::string event(1U << 20U, 'e');
  std::size_t highest = 0;
  for (int i = 0; i < 200 && !responder->gone(); ++i) {
    responder->send(event);
    highest = std::max(highest, responder->backlog());
  }
  CHECK(highest > (32U << 20U));
  CHECK(highest <= (65U << 20U));
  CHECK(responder->gone());
  CHECK(loop.run_until([&] { return gone; }, kLimit));
}

TEST_CASE("a stream that is cut off has no end, and its client sees that") {
  loop::EventLoop loop;
  Held responder;
  const auto server = serve(loop, [&](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
    responder->send("half");
  });
  const auto cut = [&] {
    responder->abort();
    CHECK(responder->gone());
    responder->abort();
    responder.reset();
  };
  RawClient raw(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(loop.run_until([&] { return raw.received.find("half") != std::string::npos; }, kLimit));
  cut();
  REQUIRE(loop.run_until([&] { return raw.closed; }, kLimit));
  CHECK(raw.received.find("0\r\n\r\n") == std::string::npos);

  const auto transport = make_transport(loop);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server)));
  REQUIRE(loop.run_until([&] { return stream.data == "half"; }, kLimit));
  cut();
  REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
  CHECK_FALSE(stream.end->ok());
}

TEST_CASE("a stream is told when all of it was taken, and may go on or end from there") {
  loop::EventLoop loop;
  Held responder;
  int drained = 0;
  const auto server = serve(loop, [&](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
    responder->on_drained([&] {
      if (++drained < 3) return responder->send(std::string(1U << 20U, 'x'));
      responder.reset();
    });
    responder->send("first");
  });
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(loop.run_until([&] { return drained == 3; }, kLimit));
  CHECK_FALSE(responder);
}

TEST_CASE("when descriptors run out the listener pauses and then goes on") {
  std::vector<std::string> lines;
  base::capture_log(&lines);
  loop::EventLoop loop;
  const auto server = serve(loop, say_ok);
  g_out_of_descriptors = true;
  RawClient client(loop, server->port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const bool warned = loop.run_until([&] { return !lines.empty(); }, kLimit);
  const auto turns = loop.stalls().turns;
  loop.run_until([] { return false; }, Duration{50});
  CHECK(loop.stalls().turns - turns < 20);
  CHECK(client.received.empty());
  g_out_of_descriptors = false;
  CHECK(warned);
  CHECK(loop.run_until([&] { return client.status() == 200; }, kLimit));
  base::capture_log(nullptr);
}

TEST_CASE("a header with a line break is not sent") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest&, const Held& responder) {
    Headers headers;
    headers.add("X-Bad", "a\r\nX-Injected: b");
    headers.add("X-Good", "c");
    responder->respond(200, headers, "ok");
  });
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, url_of(*server));
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->headers.has("X-Injected"));
  CHECK(answer->headers.get("X-Good") == "c");
}

TEST_CASE("an HTTP/1.0 client gets a stream that ends with the connection") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest&, const Held& responder) {
    responder->begin(200, {});
    responder->send("all of it");
  });
  RawClient client(loop, server->port(),
                   "GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
  REQUIRE(loop.run_until([&] { return client.closed; }, kLimit));
  CHECK(client.received.find("chunked") == std::string::npos);
  CHECK(client.received.substr(client.received.size() - 9) == "all of it");
}

}  // namespace
}  // namespace kubewatch::http
