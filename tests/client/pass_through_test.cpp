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

}  // namespace kubewatch::client
