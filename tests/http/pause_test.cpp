// Answers that are left with the server for a while because somebody cannot take them so fast.
#include "fixture.hpp"
#include "http/gzip.hpp"
#include "loop/skipping_time.hpp"

namespace kubewatch::http {
namespace {

using Held = std::shared_ptr<Responder>;

// 32 pieces of 1 MiB, none of them like another, and small answers.
struct Pieces {
  Pieces() {
    for (char c = 'A'; c < 'A' + 32; ++c) whole += std::string(1U << 20U, c);
    server = serve(loop, [this](const ServerRequest& request, const Held& to) {
      if (request.path == "/small") return to->respond(200, {}, "small");
      to->begin(200, {});
      to->send(whole);
    });
    transport = make_transport(loop);
  }
  // What is on its way has every opportunity to arrive.
  void turn() {
    for (int i = 0; i < 50; ++i) CHECK(get(loop, *transport, url_of(*server, "/small")).ok());
  }

  loop::EventLoop loop;
  std::string whole;
  std::unique_ptr<Server> server;
  std::unique_ptr<Transport> transport;
};

// Tells of each piece after it has taken it.
struct Reader {
  void start(Transport& transport, const std::string& url, std::function<void()> then) {
    CallHandlers handlers;
    handlers.on_data = [this, then = std::move(then)](std::string_view bytes) {
      data += bytes;
      then();
    };
    handlers.on_done = [this](Result<void> result) { end.emplace(std::move(result)); };
    call = transport.start(watch_request(url), std::move(handlers));
  }
  std::string data;
  std::optional<Result<void>> end;
  std::unique_ptr<Call> call;
};

void turn(loop::EventLoop& loop) {
  for (int i = 0; i < 3; ++i) {
    bool turned = false;
    loop.post([&] { turned = true; });
    REQUIRE(loop.run_until([&] { return turned; }, kLimit));
  }
}

}  // namespace

TEST_CASE("what is paused stays with the server, and comes whole when it goes on") {
  Pieces given;
  Reader reader;
  reader.start(*given.transport, url_of(*given.server), [&] { reader.call->pause(); });
  REQUIRE(given.loop.run_until([&] { return !reader.data.empty(); }, kLimit));
  given.turn();
  CHECK(reader.data.size() <= (64U << 10U));
  CHECK_FALSE(reader.end.has_value());
  // And again with each piece.
  reader.call->resume();
  const std::size_t before = reader.data.size();
  REQUIRE(given.loop.run_until([&] { return reader.data.size() > before; }, kLimit));
  given.turn();
  CHECK(reader.data.size() <= before + (64U << 10U));
  while (!reader.end) {
    const std::size_t had = reader.data.size();
    reader.call->resume();
    REQUIRE(given.loop.run_until([&] { return reader.end.has_value() || reader.data.size() > had; },
                                 kLimit));
  }
  CHECK(reader.end->ok());
  CHECK(reader.data == given.whole);
}

TEST_CASE("a pause may end before it has begun, inside the handler or outside") {
  Pieces given;
  Reader reader;
  reader.start(*given.transport, url_of(*given.server), [&] {
    reader.call->pause();
    reader.call->resume();
  });
  reader.call->pause();
  reader.call->resume();
  reader.call->resume();
  REQUIRE(given.loop.run_until([&] { return reader.end.has_value(); }, kLimit));
  CHECK(reader.end->ok());
  CHECK(reader.data == given.whole);
}

TEST_CASE("a call may be destroyed while it is paused, and when it is to go on") {
  Pieces given;
  for (const bool goes_on : {false, true}) {
    Reader reader;
    reader.start(*given.transport, url_of(*given.server), [&] { reader.call->pause(); });
    REQUIRE(given.loop.run_until([&] { return !reader.data.empty(); }, kLimit));
    if (goes_on) reader.call->resume();
    reader.call.reset();
    given.turn();
    CHECK_FALSE(reader.end.has_value());
  }
}

TEST_CASE("the idle time of a stream stands still while it is paused") {
  loop::EventLoop loop;
  loop::SkippingTime time{loop};
  const RawServer server(loop, [](int fd, const std::string&) {
    RawServer::say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
  });
  const auto transport = make_transport(loop);
  Request request = watch_request(server.url());
  request.idle_timeout = Duration{600000};
  Stream stream;
  stream.start(*transport, std::move(request));
  REQUIRE(loop.run_until([&] { return stream.data == "x"; }, kLimit));
  stream.call->pause();
  for (int i = 0; i < 3; ++i) {
    time.skip(Duration{500000});
    turn(loop);
  }
  CHECK_FALSE(stream.end.has_value());
  stream.call->resume();
  turn(loop);
  time.skip(Duration{500000});
  turn(loop);
  CHECK_FALSE(stream.end.has_value());
  time.skip(Duration{200000});
  REQUIRE(loop.run_until([&] { return stream.end.has_value(); }, kLimit));
  REQUIRE_FALSE(stream.end->ok());
  CHECK(stream.end->error().kind() == ErrorKind::timeout);
}

TEST_CASE("what came before a pause and cannot be read ends the call when it goes on") {
  loop::EventLoop loop;
  const auto chunk = [](const std::string& bytes) {
    std::string size(8, '0');
    for (std::size_t i = 0, left = bytes.size(); i < 8; ++i, left >>= 4U) {
      size[7 - i] = "0123456789abcdef"[left & 15U];
    }
    return size + "\r\n" + bytes + "\r\n";
  };
  const RawServer server(loop, [&](int fd, const std::string&) {
    RawServer::say(
        fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" +
                chunk(gzip("hello")) + chunk("this is no further member of it"));
  });
  const auto transport = make_transport(loop);
  Reader reader;
  reader.start(*transport, server.url(), [&] { reader.call->pause(); });
  REQUIRE(loop.run_until([&] { return reader.data == "hello"; }, kLimit));
  turn(loop);
  CHECK_FALSE(reader.end.has_value());
  reader.call->resume();
  REQUIRE(loop.run_until([&] { return reader.end.has_value(); }, kLimit));
  REQUIRE_FALSE(reader.end->ok());
  CHECK(reader.end->error().kind() == ErrorKind::unreachable);
}

}  // namespace kubewatch::http
