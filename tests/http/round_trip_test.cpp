// Our client against our server: whole answers, streams, reuse of connections, cancelling.
#include <algorithm>

#include "fixture.hpp"
#include "http/gzip.hpp"

namespace kubewatch::http {
namespace {

using Held = std::shared_ptr<Responder>;

void echo(const ServerRequest& request, const Held& responder) {
  Headers headers;
  headers.add("X-Method", request.method);
  headers.add("X-Path", request.path);
  headers.add("X-Query", request.query);
  headers.add("X-Peer", request.peer);
  headers.add("X-Agent", std::string(request.headers.get("User-Agent")));
  headers.add("X-Type", std::string(request.headers.get("Content-Type")));
  headers.add("X-Echo", std::string(request.headers.get("X-Echo")));
  responder->respond(request.method == "POST" ? 201 : 200, headers, request.body);
}

TEST_CASE("method, path, query, headers and body reach the server and the answer comes back") {
  loop::EventLoop loop;
  const auto server = serve(loop, echo);
  const auto transport = make_transport(loop);
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    Request request;
    request.method = method;
    request.url = url_of(*server, "/a%2Fb/../c?x=%20y&z");
    request.headers.add("X-Echo", "value");
    request.headers.add("Content-Type", "application/json");
    if (std::string(method) != "GET") request.body = std::string("\0{}", 3);
    const std::string body = request.body;
    const auto answer = get(loop, *transport, std::move(request));
    INFO(method);
    REQUIRE(answer.ok());
    CHECK(answer->status == (std::string(method) == "POST" ? 201 : 200));
    CHECK(answer->headers.get("X-Method") == method);
    CHECK(answer->headers.get("X-Path") == "/a%2Fb/../c");
    CHECK(answer->headers.get("X-Query") == "x=%20y&z");
    CHECK(answer->headers.get("X-Agent") == "kubewatch-test/1");
    CHECK(answer->headers.get("X-Type") == "application/json");
    CHECK(answer->headers.get("X-Echo") == "value");
    CHECK(answer->headers.get("X-Peer").substr(0, 10) == "127.0.0.1:");
    CHECK(answer->body == body);
  }
}

TEST_CASE("HEAD has the length and no body, POST without a body has no type of its own") {
  loop::EventLoop loop;
  std::string type = "unset";
  const auto server = serve(loop, [&type](const ServerRequest& request, const Held& responder) {
    type = std::string(request.headers.get("Content-Type"));
    responder->respond(200, {}, "12345");
  });
  const auto transport = make_transport(loop);
  Request head;
  head.method = "HEAD";
  head.url = url_of(*server);
  const auto answer = get(loop, *transport, std::move(head));
  REQUIRE(answer.ok());
  CHECK(answer->headers.get("Content-Length") == "5");
  CHECK(answer->body.empty());
  Request post;
  post.method = "POST";
  post.url = url_of(*server);
  CHECK(get(loop, *transport, post).ok());
  CHECK(type.empty());
}

TEST_CASE("an HTTP error status is an answer, not an error") {
  loop::EventLoop loop;
  const auto server = serve(
      loop, [](const ServerRequest&, const Held& responder) { responder->respond(422, {}, "no"); });
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, url_of(*server));
  REQUIRE(answer.ok());
  CHECK(answer->status == 422);
  CHECK(answer->body == "no");
}

TEST_CASE("a responder that is thrown away answers 500") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest&, const Held&) {});
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, url_of(*server));
  REQUIRE(answer.ok());
  CHECK(answer->status == 500);
}

TEST_CASE("an answer may come long after the handler returned") {
  loop::EventLoop loop;
  loop::Timer later;
  const auto server = serve(loop, [&](const ServerRequest&, Held responder) {
    later = loop.after(Duration{10}, [responder] { responder->respond(200, {}, "late"); });
  });
  const auto transport = make_transport(loop);
  CHECK(get(loop, *transport, url_of(*server))->body == "late");
}

TEST_CASE("connections are kept and used again") {
  loop::EventLoop loop;
  std::vector<std::string> peers;
  const auto server = serve(loop, [&peers](const ServerRequest& request, const Held& responder) {
    peers.push_back(request.peer);
    responder->respond(200, {}, "ok");
  });
  const auto transport = make_transport(loop);
  for (int i = 0; i < 5; ++i) REQUIRE(get(loop, *transport, url_of(*server)).ok());
  CHECK(peers.size() == 5);
  CHECK(std::all_of(peers.begin(), peers.end(), [&](const auto& p) { return p == peers[0]; }));
}

TEST_CASE("many requests run at the same time") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest& request, const Held& responder) {
    responder->respond(200, {}, request.path);
  });
  const auto transport = make_transport(loop);
  int good = 0;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    Request request;
    const std::string path = "/" + std::to_string(i);
    request.url = url_of(*server, path);
    calls.push_back(fetch(*transport, std::move(request), [&good, path](Result<Response> answer) {
      if (answer.ok() && answer->body == path) ++good;
    }));
  }
  CHECK(loop.run_until([&] { return good == 100; }, kLimit));
}

TEST_CASE("a stream is delivered byte by byte before its end") {
  loop::EventLoop loop;
  Held responder;
  const auto server = serve(loop, [&responder](const ServerRequest&, Held r) {
    responder = std::move(r);
    Headers headers;
    headers.add("Content-Type", "application/json;stream=watch");
    responder->begin(200, headers);
  });
  const auto transport = make_transport(loop);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server)));
  REQUIRE(loop.run_until([&] { return stream.head.has_value(); }, kLimit));
  CHECK(stream.head->status == 200);
  CHECK(stream.head->headers.get("content-type") == "application/json;stream=watch");
  CHECK(stream.data.empty());
  std::string sent;
  for (const char c : std::string("{\"a\":1}\n")) {
    sent += c;
    responder->send(std::string(1, c));
    REQUIRE(loop.run_until([&] { return stream.data == sent; }, kLimit));
    CHECK_FALSE(stream.end.has_value());
  }
  CHECK(stream.pieces.size() == sent.size());
  responder.reset();
  REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
  CHECK(stream.end->ok());
}

TEST_CASE("the server learns that a streaming client went away, once") {
  loop::EventLoop loop;
  Held responder;
  int gone = 0;
  const auto server = serve(loop, [&](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
    responder->on_gone([&] {
      ++gone;
      responder.reset();
    });
  });
  const auto transport = make_transport(loop);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server)));
  REQUIRE(loop.run_until([&] { return stream.head.has_value(); }, kLimit));
  CHECK_FALSE(responder->gone());
  stream.call.reset();
  REQUIRE(loop.run_until([&] { return gone > 0; }, kLimit));
  CHECK(gone == 1);
  CHECK_FALSE(stream.end.has_value());
}

TEST_CASE("calls on a responder whose client is gone do nothing") {
  loop::EventLoop loop;
  Held responder;
  const auto server = serve(loop, [&](const ServerRequest&, Held r) {
    responder = std::move(r);
    responder->begin(200, {});
  });
  const auto transport = make_transport(loop);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server)));
  REQUIRE(loop.run_until([&] { return stream.head.has_value(); }, kLimit));
  stream.call.reset();
  REQUIRE(loop.run_until([&] { return responder->gone(); }, kLimit));
  responder->send("x");
  responder->respond(200, {}, "x");
  CHECK(responder->backlog() == 0);
}

TEST_CASE("a call may be destroyed inside any of its handlers, and others started there") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest&, const Held& responder) {
    responder->begin(200, {});
    responder->send("data");
  });
  const auto transport = make_transport(loop);
  for (const std::string where : {"head", "data", "done"}) {
    INFO(where);
    std::unique_ptr<Call> call;
    bool second_done = false;
    std::unique_ptr<Call> second;
    int after_cancel = 0;
    bool canceled = false;
    const auto cancel = [&](const std::string& here) {
      if (canceled) ++after_cancel;
      if (here != where) return;
      canceled = true;
      Request request;
      request.url = url_of(*server, "/second");
      second = fetch(*transport, std::move(request), [&](Result<Response> answer) {
        CHECK(answer.ok());
        second_done = true;
      });
      call.reset();
    };
    CallHandlers handlers;
    handlers.on_head = [&](const ResponseHead&) { cancel("head"); };
    handlers.on_data = [&](std::string_view) { cancel("data"); };
    handlers.on_done = [&](Result<void>) { cancel("done"); };
    call = transport->start(watch_request(url_of(*server)), std::move(handlers));
    REQUIRE(loop.run_until([&] { return second_done; }, kLimit));
    CHECK(after_cancel == 0);
  }
}

TEST_CASE("a call that is canceled from the handler of another says nothing more") {
  loop::EventLoop loop;
  const auto server = serve(loop, [](const ServerRequest& request, const Held& responder) {
    responder->respond(200, {}, request.path);
  });
  const auto transport = make_transport(loop);
  std::vector<std::unique_ptr<Call>> calls;
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    Request request;
    request.url = url_of(*server);
    calls.push_back(fetch(*transport, std::move(request), [&](Result<Response>) {
      ++done;
      calls.clear();
    }));
  }
  REQUIRE(loop.run_until([&] { return done > 0; }, kLimit));
  CHECK_FALSE(loop.run_until([&] { return done > 1; }, Duration{30}));
}

TEST_CASE("the transport may be destroyed in the handler of its last call") {
  loop::EventLoop loop;
  const auto server = serve(
      loop, [](const ServerRequest&, const Held& responder) { responder->respond(200, {}, "ok"); });
  auto transport = make_transport(loop);
  std::unique_ptr<Call> call;
  bool done = false;
  Request request;
  request.url = url_of(*server);
  call = fetch(*transport, std::move(request), [&](Result<Response>) {
    call.reset();
    transport.reset();
    done = true;
  });
  CHECK(loop.run_until([&] { return done; }, kLimit));
}

TEST_CASE("the server may go before its answers and its clients") {
  loop::EventLoop loop;
  Held streaming;
  Held waiting;
  auto server = serve(loop, [&](const ServerRequest& request, Held responder) {
    if (request.path == "/wait") {
      waiting = std::move(responder);
      return;
    }
    streaming = std::move(responder);
    streaming->begin(200, {});
  });
  const auto transport = make_transport(loop);
  Stream stream;
  Stream wait;
  stream.start(*transport, watch_request(url_of(*server)));
  wait.start(*transport, watch_request(url_of(*server, "/wait")));
  REQUIRE(loop.run_until([&] { return stream.head.has_value() && waiting; }, kLimit));
  server.reset();
  CHECK(streaming->gone());
  CHECK(waiting->gone());
  REQUIRE(loop.run_until([&] { return stream.end.has_value() && wait.end.has_value(); }, kLimit));
  REQUIRE_FALSE(stream.end->ok());
  CHECK(stream.end->error().kind() == ErrorKind::unreachable);
  CHECK(wait.end->error().kind() == ErrorKind::unreachable);
}

TEST_CASE("a big answer travels gzipped when the client takes it, and arrives as it was") {
  loop::EventLoop loop;
  std::string body;
  for (int i = 0; body.size() < 4U * kGzipThreshold; ++i)
    body += "item " + std::to_string(i) + "\n";
  const auto server = serve(loop, [&body](const ServerRequest&, const Held& responder) {
    responder->respond(200, {}, body);
  });
  const auto transport = make_transport(loop);
  const auto answer = get(loop, *transport, url_of(*server));
  REQUIRE(answer.ok());
  CHECK(answer->headers.get("Content-Encoding") == "gzip");
  CHECK(answer->body == body);
  TransportOptions uncompressed;
  uncompressed.user_agent = "kubewatch-test/1";
  uncompressed.compress = false;
  const auto whole = make_curl_transport(loop, std::move(uncompressed)).value();
  const auto identity = get(loop, *whole, url_of(*server));
  REQUIRE(identity.ok());
  CHECK_FALSE(identity->headers.has("Content-Encoding"));
  CHECK(identity->body == body);
  RawClient plain(loop, server->port(),
                  "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  REQUIRE(loop.run_until([&] { return plain.closed; }, kLimit));
  CHECK(plain.received.find("Content-Encoding") == std::string::npos);
  CHECK(plain.received.size() > body.size());
}

TEST_CASE("a gzipped stream is decoded as it comes") {
  loop::EventLoop loop;
  Held responder;
  const auto server = serve(loop, [&responder](const ServerRequest&, Held r) {
    responder = std::move(r);
    Headers headers;
    headers.add("Content-Encoding", "gzip");
    responder->begin(200, headers);
  });
  const auto transport = make_transport(loop);
  Stream stream;
  stream.start(*transport, watch_request(url_of(*server)));
  REQUIRE(loop.run_until([&] { return stream.head.has_value(); }, kLimit));
  const std::string packed = gzip("one event\n");
  for (const char c : packed) responder->send(std::string(1, c));
  responder.reset();
  REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
  CHECK(stream.end->ok());
  CHECK(stream.data == "one event\n");
}

}  // namespace
}  // namespace kubewatch::http
