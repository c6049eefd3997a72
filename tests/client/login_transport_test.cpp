// Requests that wait for a login, and 401s that ask for another one.
#include "client/login_transport.hpp"

#include <deque>
#include <optional>

#include "client/login_waits.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

// Answers when the test says so.
struct FakeSource : LoginSource {
  void fetch(bool was_refused, std::function<void(Result<Login>)> callback) override {
    ++fetches;
    refused = was_refused;
    done = std::move(callback);
  }
  void give(Result<Login> login) {
    const auto callback = std::exchange(done, nullptr);
    REQUIRE(callback);
    callback(std::move(login));
  }
  int fetches = 0;
  bool refused = false;
  std::function<void(Result<Login>)> done;
};

Login token(const std::string& text, std::optional<WallTime> expires = {}) {
  Login out;
  out.token = text;
  out.expires = expires;
  return out;
}

struct World {
  World() {
    auto scripted = std::make_unique<ScriptedTransport>();
    auto fake = std::make_unique<FakeSource>();
    wire = scripted.get();
    source = fake.get();
    http::TlsOptions base;
    base.ca_pem = "CA";
    transport = make_login_transport(loop, std::move(scripted), std::move(fake), base);
  }

  struct Answer {
    std::unique_ptr<http::Call> call;
    int status = 0;
    std::string body;
    std::optional<Result<void>> end;
  };
  Answer& ask(const std::string& body = "", std::function<Result<Duration>()> admit = nullptr) {
    Answer& answer = answers.emplace_back();
    http::Request request;
    request.admit = std::move(admit);
    request.method = body.empty() ? "GET" : "POST";
    request.url = "https://cluster/x";
    request.body = body;
    http::CallHandlers handlers;
    handlers.on_head = [&answer](const http::ResponseHead& head) { answer.status = head.status; };
    handlers.on_data = [&answer](std::string_view bytes) { answer.body += bytes; };
    handlers.on_done = [&answer](Result<void> result) { answer.end.emplace(std::move(result)); };
    answer.call = transport->start(std::move(request), std::move(handlers));
    return answer;
  }
  std::string bearer(std::size_t index) {
    return std::string(wire->request(index).headers.get("Authorization"));
  }
  void answer(std::size_t index, int status, const std::string& body = "") {
    wire->call(index).head(status);
    wire->call(index).data(body);
    wire->call(index).end();
  }

  loop::EventLoop loop;
  ScriptedTransport* wire = nullptr;
  FakeSource* source = nullptr;
  std::unique_ptr<http::Transport> transport;
  std::deque<Answer> answers;
};

}  // namespace

TEST_CASE("what a login gave is known as a secret") {
  World w;
  w.ask();
  w.source->give(token("secret-of-the-login"));
  CHECK(w.transport->secrets().at(0) == "secret-of-the-login");
}

TEST_CASE("requests wait for one login and then carry it") {
  World w;
  auto& first = w.ask();
  auto& second = w.ask("body");
  CHECK(w.wire->size() == 0);
  CHECK(w.source->fetches == 1);
  w.source->give(token("one"));
  REQUIRE(w.wire->size() == 2);
  CHECK(w.bearer(0) == "Bearer one");
  CHECK(w.bearer(1) == "Bearer one");
  CHECK(w.wire->request(1).body == "body");
  w.answer(0, 200, "ok");
  w.answer(1, 201);
  CHECK(first.status == 200);
  CHECK(first.body == "ok");
  CHECK(second.status == 201);
  w.ask();
  CHECK(w.source->fetches == 1);
  CHECK(w.bearer(2) == "Bearer one");
}

TEST_CASE(
    "a write that waited for a login is sent only if it still may be, and no longer than that") {
  World w;
  Result<Duration> gate = Duration{4000};
  const auto admit = [&gate] { return gate; };
  auto& first = w.ask("first", admit);
  SECTION("the lead was lost before there was a login") {
    gate = Error(ErrorKind::canceled, "not the leader any more");
    w.source->give(token("one"));
    CHECK(w.wire->size() == 0);
    REQUIRE(first.end.has_value());
    CHECK(first.end->error().message() == "not the leader any more");
  }
  SECTION("while another login was fetched after a 401") {
    w.source->give(token("one"));
    REQUIRE(w.wire->size() == 1);
    CHECK(w.wire->request(0).response_timeout == Duration{4000});
    w.answer(0, 401);
    gate = Error(ErrorKind::canceled, "not the leader any more");
    w.source->give(token("two"));
    CHECK(w.wire->size() == 1);
    REQUIRE(first.end.has_value());
    CHECK_FALSE(first.end->ok());
  }
  SECTION("what is left of the time counts") {
    gate = Duration{700};
    w.source->give(token("one"));
    REQUIRE(w.wire->size() == 1);
    CHECK(w.wire->request(0).response_timeout == Duration{700});
    CHECK(w.wire->request(0).connect_timeout == Duration{700});
  }
}

TEST_CASE("a login that fails ends the requests that wait for it, and the next one tries again") {
  World w;
  auto& first = w.ask();
  w.source->give(Error(ErrorKind::unauthorized, "no luck"));
  REQUIRE(first.end.has_value());
  CHECK(first.end->error().message() == "no luck");
  w.ask();
  CHECK(w.source->fetches == 2);
  CHECK(w.wire->size() == 0);
}

TEST_CASE("a request that is refused is sent once more with another login") {
  World w;
  auto& first = w.ask("body");
  w.source->give(token("one"));
  w.answer(0, 401, "who are you");
  CHECK(first.status == 0);
  CHECK(w.source->fetches == 2);
  CHECK(w.source->refused);
  w.source->give(token("two"));
  REQUIRE(w.wire->size() == 2);
  CHECK(w.bearer(1) == "Bearer two");
  CHECK(w.wire->request(1).body == "body");
  // Not a third time.
  w.answer(1, 401, "still not");
  CHECK(first.status == 401);
  CHECK(first.body == "still not");
  REQUIRE(first.end.has_value());
  CHECK(w.wire->size() == 2);
}

TEST_CASE("a source that has no other login does not run for every refused request") {
  World w;
  auto& first = w.ask();
  w.source->give(token("one"));
  w.answer(0, 401, "who are you");
  w.source->give(token("one"));
  CHECK(w.wire->size() == 1);
  CHECK(first.status == 401);
  CHECK(first.body == "who are you");
  REQUIRE(first.end.has_value());
  CHECK(first.end->ok());
  auto& second = w.ask();
  REQUIRE(w.wire->size() == 2);
  w.answer(1, 401);
  CHECK(second.status == 401);
  CHECK(w.source->fetches == 2);
}

TEST_CASE("requests that were refused together share one login") {
  World w;
  w.ask();
  w.ask();
  w.source->give(token("one"));
  w.answer(0, 401);
  w.answer(1, 401);
  CHECK(w.source->fetches == 2);
  w.source->give(token("two"));
  REQUIRE(w.wire->size() == 4);
  CHECK(w.bearer(2) == "Bearer two");
  CHECK(w.bearer(3) == "Bearer two");
}

TEST_CASE("an expired login is replaced before the next request") {
  World w;
  w.ask();
  w.source->give(token("one", w.loop.wall() + std::chrono::seconds(3)));
  REQUIRE(w.wire->size() == 1);
  w.ask();
  CHECK(w.wire->size() == 1);
  CHECK(w.source->fetches == 2);
  CHECK_FALSE(w.source->refused);
  w.source->give(token("two", w.loop.wall() + std::chrono::hours(1)));
  REQUIRE(w.wire->size() == 2);
  CHECK(w.bearer(1) == "Bearer two");
}

TEST_CASE("a login that the source keeps until it expires is used until then") {
  World w;
  const Login soon = token("one", w.loop.wall() + std::chrono::seconds(3));
  w.ask();
  w.source->give(soon);
  w.ask();
  w.source->give(soon);
  for (int i = 0; i < 3; ++i) w.ask();
  CHECK(w.source->fetches == 2);
  REQUIRE(w.wire->size() == 5);
  CHECK(w.bearer(4) == "Bearer one");
  // Refused is refused all the same.
  w.answer(4, 401);
  REQUIRE(w.source->fetches == 3);
  CHECK(w.source->refused);
  // Of another one nothing is known yet.
  w.source->give(token("two", w.loop.wall() + std::chrono::seconds(3)));
  w.ask();
  CHECK(w.source->fetches == 4);
}

TEST_CASE("a login that the source gives again is not used when it has expired") {
  LoginState state;
  const WallTime wall{std::chrono::hours(1)};
  const TimePoint now{Duration{0}};
  const Login soon = token("one", wall + std::chrono::seconds(3));
  CHECK(state.took(soon, now));
  CHECK_FALSE(state.usable(wall));
  CHECK_FALSE(state.took(soon, now));
  CHECK(state.usable(wall));
  CHECK_FALSE(state.usable(wall + std::chrono::seconds(3)));
}

TEST_CASE("a login that expires soon is used where another one is not to be had") {
  World w;
  w.ask();
  w.source->give(token("one", w.loop.wall() + std::chrono::seconds(4)));
  auto& second = w.ask();
  w.source->give(Error(ErrorKind::unauthorized, "the program failed"));
  REQUIRE(w.wire->size() == 2);
  CHECK(w.bearer(1) == "Bearer one");
  CHECK_FALSE(second.end.has_value());
  // The next one asks again; refused is refused.
  w.answer(1, 401);
  REQUIRE(w.source->fetches == 3);
  w.source->give(Error(ErrorKind::unauthorized, "the program failed"));
  CHECK(w.wire->size() == 2);
  REQUIRE(second.end.has_value());
  CHECK_FALSE(second.end->ok());
}

TEST_CASE("an expired login is not used, whatever becomes of the next one") {
  World w;
  w.ask();
  w.source->give(token("one", w.loop.wall() - std::chrono::seconds(1)));
  auto& second = w.ask();
  w.source->give(Error(ErrorKind::unauthorized, "the program failed"));
  CHECK(w.wire->size() == 1);
  REQUIRE(second.end.has_value());
  CHECK_FALSE(second.end->ok());
}

TEST_CASE("a login's certificate stands over the configuration's, also after that was rotated") {
  World w;
  w.ask();
  Login login;
  login.client_cert_pem = "CERT";
  login.client_key_pem = "KEY";
  w.source->give(login);
  REQUIRE(w.wire->tls.size() == 1);
  CHECK(w.wire->tls[0].ca_pem == "CA");
  CHECK(w.wire->tls[0].client_cert_pem == "CERT");
  CHECK(w.bearer(0).empty());
  http::TlsOptions rotated;
  rotated.ca_pem = "CA2";
  REQUIRE(w.transport->set_tls(rotated).ok());
  CHECK(w.wire->tls[1].ca_pem == "CA2");
  CHECK(w.wire->tls[1].client_key_pem == "KEY");
}

TEST_CASE("the configuration's certificate goes along with the token of a login") {
  World w;
  http::TlsOptions configured;
  configured.client_cert_pem = "CERT";
  configured.client_key_pem = "KEY";
  REQUIRE(w.transport->set_tls(configured).ok());
  w.ask();
  w.source->give(token("id"));
  CHECK(w.bearer(0) == "Bearer id");
  CHECK(w.wire->tls.back().client_cert_pem == "CERT");
}

TEST_CASE("a certificate that cannot be used ends the requests that wait for it") {
  World w;
  auto& first = w.ask();
  w.wire->refuse_tls = true;
  Login login;
  login.client_cert_pem = "CERT";
  login.client_key_pem = "KEY";
  w.source->give(login);
  REQUIRE(first.end.has_value());
  CHECK(first.end->error().render() == "the client certificate given to log in: not a certificate");
  // Whoever keeps logins must not give this one again.
  w.ask();
  CHECK(w.source->refused);
  w.source->give(login);
  w.ask();
  CHECK(w.source->fetches == 2);
}

TEST_CASE("a request is paused on whatever connection it is sent") {
  World w;
  auto& early = w.ask();
  early.call->pause();
  w.source->give(token("one"));
  CHECK(w.wire->call(0).paused());
  early.call->resume();
  CHECK_FALSE(w.wire->call(0).paused());
  early.call->pause();
  w.answer(0, 401);
  w.source->give(token("two"));
  CHECK(w.wire->call(1).paused());
  early.call->resume();
  CHECK_FALSE(w.wire->call(1).paused());
}

TEST_CASE("an authority that is refused is not kept for the next login") {
  World w;
  w.ask();
  w.wire->refuse_tls = true;
  http::TlsOptions broken;
  broken.ca_pem = "BAD";
  CHECK_FALSE(w.transport->set_tls(broken).ok());
  Login login;
  login.client_cert_pem = "CERT";
  login.client_key_pem = "KEY";
  w.source->give(login);
  REQUIRE_FALSE(w.wire->tls.empty());
  CHECK(w.wire->tls.back().ca_pem == "CA");
}

TEST_CASE("a request that is cancelled while it waits is never sent") {
  World w;
  w.ask().call.reset();
  w.source->give(token("one"));
  CHECK(w.wire->size() == 0);
}

TEST_CASE("what waits for a login ends where nobody waits for it any more") {
  World w;
  auto& asked = w.ask();
  cancel_login_waits();
  CHECK_FALSE(asked.end.has_value());  // from the loop, as all ends
  REQUIRE(w.loop.run_until([&] { return asked.end.has_value(); }, Duration{20000}));
  CHECK(asked.end->error().kind() == ErrorKind::canceled);
  CHECK(w.wire->size() == 0);
  // The login goes on, for those who come later.
  auto& later = w.ask();
  CHECK(w.source->fetches == 1);
  w.source->give(token("one"));
  REQUIRE(w.wire->size() == 1);
  // What was sent is no wait.
  cancel_login_waits();
  w.answer(0, 200, "fine");
  REQUIRE(later.end.has_value());
  CHECK(later.body == "fine");
}

TEST_CASE("whether requests wait for a login can be asked while they do") {
  World w;
  CHECK_FALSE(w.transport->awaits_login());
  w.ask();
  CHECK(w.transport->awaits_login());
  w.source->give(token("one"));
  CHECK_FALSE(w.transport->awaits_login());
}

TEST_CASE("a request that was refused and waits for another login ends as well") {
  World w;
  auto& asked = w.ask();
  w.source->give(token("one"));
  w.answer(0, 401);
  CHECK(w.source->fetches == 2);
  cancel_login_waits();
  REQUIRE(w.loop.run_until([&] { return asked.end.has_value(); }, Duration{20000}));
  CHECK(asked.end->error().kind() == ErrorKind::canceled);
  CHECK(w.wire->size() == 1);
}

TEST_CASE(
    "a request that is cancelled between the end of its wait and the loop's turn is not told") {
  World w;
  auto& asked = w.ask();
  cancel_login_waits();
  asked.call.reset();
  bool turned = false;
  w.loop.post([&] { turned = true; });
  REQUIRE(w.loop.run_until([&] { return turned; }, Duration{20000}));
  CHECK_FALSE(asked.end.has_value());
}
