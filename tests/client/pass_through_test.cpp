// Requests that are passed on, on a scripted transport: how their answers end at the client.
#include "client/pass_through.hpp"

#include <algorithm>

#include "http/fixture.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::client {

namespace {

// What a client of ours would see; it outlives the answer.
struct Seen {
  int status = 0;
  std::string text;
  std::vector<std::string> warnings;
  bool begun = false, aborted = false, ended = false;
  std::size_t backlog = 0;
  std::function<void()> drained;
  // It takes all that was sent.
  void drain() {
    backlog = 0;
    drained();
  }
};

class FakeResponder : public http::Responder {
 public:
  explicit FakeResponder(Seen& seen) : seen_(seen) {}
  ~FakeResponder() override { seen_.ended = seen_.begun && !seen_.aborted; }
  void respond(int status, const http::Headers&, std::string_view body) override {
    seen_.status = status;
    seen_.text = body;
  }
  void begin(int status, const http::Headers& headers) override {
    seen_.status = status;
    for (const auto& [name, value] : headers.all()) {
      if (name == "Warning") seen_.warnings.push_back(value);
    }
    seen_.begun = true;
  }
  void send(std::string_view bytes) override { seen_.text += bytes; }
  void abort() override { seen_.aborted = true; }
  bool gone() const override { return seen_.aborted; }
  std::size_t backlog() const override { return seen_.backlog; }
  void on_gone(std::function<void()>) override {}
  void on_drained(std::function<void()> callback) override { seen_.drained = std::move(callback); }

 private:
  Seen& seen_;
};

struct Rig {
  Rig() {
    ClientConfig config;
    config.server = "https://cluster:6443";
    passing = std::make_unique<PassThrough>(
        loop, std::make_unique<Forwarder>(loop, transport, config),
        [](http::Responder& to, const Error& error) { to.respond(503, {}, error.message()); });
  }
  test::ScriptedCall& pass(Seen& seen, const std::string& method = "GET", bool streaming = false) {
    http::ServerRequest request;
    request.method = method;
    REQUIRE(passing->pass(request, {"/api/v1/namespaces/shop/pods/a/log", streaming, "owner"},
                          std::make_shared<FakeResponder>(seen)));
    return transport.last();
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport;
  std::unique_ptr<PassThrough> passing;
};

const Error kBroken(ErrorKind::unreachable, "cluster:6443 hung up");

}  // namespace

TEST_CASE("tunnels are told by their subresource") {
  for (const char* name : {"proxy", "exec", "attach", "portforward", "token"}) {
    CHECK(is_tunnel(name));
  }
  for (const char* name : {"", "log", "status", "scale", "Exec", "proxy/path"}) {
    CHECK_FALSE(is_tunnel(name));
  }
}

TEST_CASE("an answer that breaks off is cut off, and one that is whole is ended") {
  Seen half;
  Seen all;
  Rig rig;
  auto& breaking = rig.pass(half);
  breaking.head(200);
  breaking.data("half");
  breaking.fail(kBroken);
  CHECK(half.status == 200);
  CHECK(half.text == "half");
  CHECK(half.aborted);
  CHECK_FALSE(half.ended);

  auto& good = rig.pass(all);
  good.head(200);
  good.data("all of it");
  good.end();
  CHECK_FALSE(all.aborted);
  CHECK(all.ended);
  CHECK(rig.passing->size() == 0);
}

TEST_CASE("an answer that never began is answered with why, and not cut off") {
  Seen none;
  Rig rig;
  rig.pass(none).fail(kBroken);
  CHECK(none.status == 503);
  CHECK(none.text.find("hung up") != std::string::npos);
  CHECK_FALSE(none.aborted);
}

TEST_CASE("a 401 is about this process and does not reach who asked it") {
  Seen seen;
  Rig rig;
  auto& call = rig.pass(seen);
  call.head(401);
  CHECK(call.canceled());
  CHECK(seen.status == 503);
  CHECK(seen.text.find("does not accept the login") != std::string::npos);
  CHECK_FALSE(seen.begun);
  CHECK_FALSE(seen.aborted);
  CHECK(rig.passing->size() == 0);
  // Of what it may not do the server's own words are better.
  Seen forbidden;
  rig.pass(forbidden).head(403);
  CHECK(forbidden.status == 403);
}

TEST_CASE("the server waits for a client that takes less than it sends") {
  Seen slow;
  Seen written;
  Rig rig;
  auto& call = rig.pass(slow);
  call.head(200);
  slow.backlog = 400U << 10U;
  call.data("one,");
  CHECK_FALSE(call.paused());
  slow.backlog = 600U << 10U;
  call.data("two,");
  CHECK(call.paused());
  slow.backlog = 40U << 20U;
  call.data("what had come,");
  CHECK_FALSE(slow.aborted);
  slow.drain();
  CHECK_FALSE(call.paused());
  call.data("three,");
  CHECK_FALSE(call.paused());
  slow.backlog = 600U << 10U;
  call.data("four");
  CHECK(call.paused());
  slow.drain();
  call.end();
  CHECK(slow.text == "one,two,what had come,three,four");
  CHECK(slow.ended);

  // A write has a time by which it is to be answered, and no more than an answer's size.
  auto& write = rig.pass(written, "DELETE");
  write.head(200);
  written.backlog = 40U << 20U;
  write.data("more");
  CHECK_FALSE(write.paused());
}

TEST_CASE("a client that takes nothing for a minute is cut off, one that takes a little is not") {
  Seen slow;
  Seen quiet;
  Rig rig;
  auto& call = rig.pass(slow);
  call.head(200);
  slow.backlog = 600U << 10U;
  call.data("more");
  const auto cut = [&] { return slow.aborted; };
  CHECK_FALSE(rig.loop.run_until(cut, Duration{50000}));
  slow.backlog -= 1;
  CHECK_FALSE(rig.loop.run_until(cut, Duration{50000}));
  CHECK(rig.loop.run_until(cut, Duration{30000}));
  CHECK_FALSE(slow.ended);
  CHECK(call.canceled());
  CHECK(rig.passing->size() == 0);

  // A quiet stream has nothing to take, and waits for the server alone.
  auto& watch = rig.pass(quiet, "GET", true);
  watch.head(200);
  quiet.backlog = 600U << 10U;
  watch.data("event");
  quiet.drain();
  CHECK_FALSE(rig.loop.run_until([&] { return quiet.aborted; }, Duration{300000}));
  CHECK_FALSE(watch.canceled());
}

TEST_CASE("who takes none of the little that waits for it holds no place, who is behind does") {
  Seen dead;
  Seen behind;
  Rig rig;
  auto& watch = rig.pass(dead, "GET", true);
  watch.head(200);
  dead.backlog = 100;
  watch.data("event");
  CHECK_FALSE(watch.paused());
  const auto cut = [&] { return dead.aborted; };
  CHECK_FALSE(rig.loop.run_until(cut, Duration{50000}));
  // What comes in between is not taken either.
  dead.backlog = 200;
  watch.data(std::string(95, 'e'));
  CHECK(rig.loop.run_until(cut, Duration{30000}));
  CHECK(watch.canceled());
  CHECK(rig.passing->size() == 0);

  // It takes 50 of 60 bytes.
  auto& fast = rig.pass(behind, "GET", true);
  fast.head(200);
  for (int i = 0; i < 40; ++i) {
    behind.backlog += 10;
    fast.data(std::string(60, 'e'));
    CHECK_FALSE(rig.loop.run_until([&] { return behind.aborted; }, Duration{5000}));
  }
  CHECK(rig.loop.run_until([&] { return behind.aborted; }, Duration{80000}));
}

TEST_CASE("a long answer reaches a client whole that begins to read late") {
  loop::EventLoop loop;
  const std::string big(48U << 20U, '\x01');
  const auto upstream = http::serve(
      loop, [&](const http::ServerRequest& request, const std::shared_ptr<http::Responder>& to) {
        to->respond(200, {}, request.path == "/big" ? big : "small");
      });
  ClientConfig config;
  config.server = http::url_of(*upstream, "");
  config.disable_compression = true;
  auto passing = PassThrough::make(loop, config, [](http::Responder& to, const Error& error) {
    to.respond(503, {}, error.message());
  });
  REQUIRE(passing.ok());
  const auto door = http::serve(
      loop, [&](const http::ServerRequest& request, const std::shared_ptr<http::Responder>& to) {
        CHECK((*passing)->pass(request, {request.path, false, ""}, to));
      });
  http::RawClient client(loop, door->port(), "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.stop_reading();
  const auto transport = http::make_transport(loop);
  for (int i = 0; i < 100; ++i) {
    CHECK(http::get(loop, *transport, http::url_of(*door, "/small"))->body == "small");
  }
  client.start_reading(loop);
  REQUIRE(loop.run_until(
      [&] { return client.closed || client.received.ends_with("\r\n0\r\n\r\n"); }, kLimit));
  CHECK(std::count(client.received.begin(), client.received.end(), '\x01') == 48U << 20U);
}

TEST_CASE("streams, which last, take no places from other requests") {
  Seen seen;
  Rig rig;
  const auto pass = [&](bool streaming) {
    return rig.passing->pass({"GET", "/api", "", {}, "", ""}, {"/api", streaming, "owner"},
                             std::make_shared<FakeResponder>(seen));
  };
  for (int i = 0; i < 256; ++i) CHECK(pass(true));
  CHECK_FALSE(pass(true));
  for (int i = 0; i < 64; ++i) CHECK(pass(false));
  CHECK_FALSE(pass(false));
  rig.transport.last().fail(kBroken);
  CHECK_FALSE(pass(true));
  CHECK(pass(false));
  rig.passing->end("owner");
  CHECK(pass(true));
}

TEST_CASE("what does not read is passed on only where it is admitted, and for so long") {
  Seen seen;
  Rig rig;
  Result<Duration> gate = Duration{700};
  int asked = 0;
  const auto pass = [&](const std::string& method) {
    PassThrough::Order order{"/api/v1/nodes/a", false, "owner"};
    order.admit = [&] {
      ++asked;
      return gate;
    };
    const bool passed = rig.passing->pass({method, "/api/v1/nodes/a", "", {}, "", ""},
                                          std::move(order), std::make_shared<FakeResponder>(seen));
    REQUIRE(passed);
  };
  pass("PATCH");
  CHECK(asked == 1);
  REQUIRE(rig.transport.size() == 1);
  CHECK(rig.transport.last().request().response_timeout == Duration{700});
  CHECK(rig.transport.last().request().connect_timeout == Duration{700});
  // Again by a transport that has it wait for a login.
  REQUIRE(rig.transport.last().request().admit);

  gate = Error(ErrorKind::canceled, "not the leader any more");
  pass("PATCH");
  CHECK(rig.transport.size() == 1);
  REQUIRE(rig.loop.run_until([&] { return seen.status != 0; }, kLimit));
  CHECK(seen.status == 503);
  CHECK(seen.text == "not the leader any more");

  pass("GET");
  CHECK(rig.transport.size() == 2);
  CHECK(asked == 2);

  // Without a gate it has the time that any request has.
  gate = Duration{0};
  pass("DELETE");
  CHECK(rig.transport.last().request().response_timeout == Duration{30000});
}

TEST_CASE("a client whose owner ends is cut off") {
  Seen owned;
  Seen last;
  Rig rig;
  auto& open = rig.pass(owned);
  open.head(200);
  rig.passing->end("somebody else");
  CHECK_FALSE(owned.aborted);
  rig.passing->end("owner");
  CHECK(owned.aborted);
  CHECK(open.canceled());
  CHECK(rig.passing->size() == 0);

  rig.pass(last).head(200);
  rig.passing.reset();
  CHECK(last.aborted);
}

TEST_CASE("who is told of one end may end others") {
  Rig rig;
  const auto pass = [&](Seen& seen, const std::string& owner, std::function<void()> ended) {
    PassThrough::Order order{"/api/v1/nodes/a", true, owner};
    if (ended) order.ended = [ended](const PassThrough::Ended&) { ended(); };
    const bool passed =
        rig.passing->pass({}, std::move(order), std::make_shared<FakeResponder>(seen));
    REQUIRE(passed);
    rig.transport.last().head(200);
  };
  Seen first, second, third;
  pass(first, "a", [&] { rig.passing->end("b"); });
  pass(second, "b", nullptr);
  pass(third, "a", nullptr);
  rig.passing->end("a");
  CHECK(first.aborted);
  CHECK(second.aborted);
  CHECK(third.aborted);
  CHECK(rig.passing->size() == 0);
}

TEST_CASE("all warnings of an answer are passed on") {
  Seen seen;
  Rig rig;
  http::Headers headers;
  headers.add("Warning", "299 - \"one\"");
  headers.add("warning", "299 - \"two\"");
  rig.pass(seen).head(200, headers);
  CHECK(seen.warnings == std::vector<std::string>{"299 - \"one\"", "299 - \"two\""});
}

TEST_CASE("a read that is passed on has no deadline but silence, a write has one") {
  Seen seen;
  Rig rig;
  const auto& read = rig.pass(seen).request();
  CHECK(read.streaming);
  CHECK(read.idle_timeout > Duration{0});
  const Duration silence = read.idle_timeout;
  CHECK(rig.pass(seen, "GET", true).request().idle_timeout > silence);
  const auto& write = rig.pass(seen, "DELETE").request();
  CHECK_FALSE(write.streaming);
  CHECK(write.response_timeout > Duration{0});
}

TEST_CASE("how a request ended is told once, with its answer where that is not too long") {
  struct Told {
    int times = 0, status = -1;
    bool failed = false;
    std::string type, body = "none";
  };
  Rig rig;
  const auto pass = [&](Told& told, Seen& seen) -> test::ScriptedCall& {
    http::ServerRequest request;
    request.method = "PATCH";
    PassThrough::Order order{"/api/v1/nodes/a", false, "owner"};
    order.keep = 8;
    order.ended = [&](const PassThrough::Ended& ended) {
      ++told.times;
      told.status = ended.status;
      told.failed = ended.error != nullptr;
      told.type = ended.content_type;
      if (ended.body != nullptr) told.body = *ended.body;
      CHECK_FALSE(seen.ended);
    };
    const bool passed =
        rig.passing->pass(request, std::move(order), std::make_shared<FakeResponder>(seen));
    REQUIRE(passed);
    return rig.transport.last();
  };
  http::Headers json;
  json.add("Content-Type", "application/json");

  Told whole;
  Seen all;
  auto& good = pass(whole, all);
  good.head(200, json);
  good.data("1234");
  CHECK(all.text == "1234");  // it waits for nothing
  good.data("5678");
  CHECK(whole.times == 0);
  good.end();
  CHECK(all.ended);
  CHECK(whole.times == 1);
  CHECK(whole.status == 200);
  CHECK(whole.type == "application/json");
  CHECK(whole.body == "12345678");

  Told longer;
  Seen streamed;
  auto& much = pass(longer, streamed);
  much.head(200, json);
  much.data("12345678");
  much.data("9");
  much.data("0");
  much.end();
  CHECK(streamed.text == "1234567890");
  CHECK(longer.status == 200);
  CHECK(longer.body == "none");

  Told broken;
  Seen half;
  auto& breaking = pass(broken, half);
  breaking.head(201, json);
  breaking.data("12");
  breaking.fail(kBroken);
  CHECK(broken.times == 1);
  CHECK(broken.status == 201);
  CHECK(broken.failed);
  CHECK(broken.body == "none");

  Told refused;
  Seen not_ours;
  pass(refused, not_ours).head(401);
  CHECK(refused.status == 401);

  Told cut;
  Seen waits;
  pass(cut, waits);
  rig.passing->end("owner");
  CHECK(cut.times == 1);
  CHECK(cut.status == 0);

  Told last;
  Seen forgotten;
  pass(last, forgotten);
  rig.passing.reset();
  CHECK(last.times == 0);
}

}  // namespace kubewatch::client
