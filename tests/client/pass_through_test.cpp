// Requests that are passed on, on a scripted transport: how their answers end at the client.
#include "client/pass_through.hpp"

#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::client {

namespace {

// What a client of ours would see; it outlives the answer.
struct Seen {
  int status = 0;
  std::string text;
  bool begun = false, aborted = false, ended = false;
  std::size_t backlog = 0;
};

class FakeResponder : public http::Responder {
 public:
  explicit FakeResponder(Seen& seen) : seen_(seen) {}
  ~FakeResponder() override { seen_.ended = seen_.begun && !seen_.aborted; }
  void respond(int status, const http::Headers&, std::string_view body) override {
    seen_.status = status;
    seen_.text = body;
  }
  void begin(int status, const http::Headers&) override {
    seen_.status = status;
    seen_.begun = true;
  }
  void send(std::string_view bytes) override { seen_.text += bytes; }
  void abort() override { seen_.aborted = true; }
  bool gone() const override { return seen_.aborted; }
  std::size_t backlog() const override { return seen_.backlog; }
  void on_gone(std::function<void()>) override {}
  void on_drained(std::function<void()>) override {}

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

  loop::EventLoop loop;
  test::ScriptedTransport transport;
  std::unique_ptr<PassThrough> passing;
};

const Error kBroken(ErrorKind::unreachable, "cluster:6443 hung up");

}  // namespace

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

TEST_CASE("a client that takes too little, and one whose owner ends, are cut off") {
  Seen slow;
  Seen owned;
  Seen last;
  Rig rig;
  auto& fast = rig.pass(slow);
  fast.head(200);
  slow.backlog = 33U << 20U;
  fast.data("more");
  CHECK(slow.aborted);
  CHECK_FALSE(slow.ended);
  CHECK(fast.canceled());

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
