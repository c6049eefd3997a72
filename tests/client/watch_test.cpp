// The watch verb: events as they come, one end, whatever the chunking.
#include <optional>

#include "client/client.hpp"
#include "client/sender.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

struct Seen {
  int opened = 0;
  std::vector<std::string> events;
  std::vector<Result<void>> ends;

  WatchHandlers handlers() {
    return {[this] { ++opened; },
            [this](const core::WatchEvent& event) {
              events.push_back(std::string(event.type_name) + " " + std::string(event.object));
            },
            [this](Result<void> end) { ends.push_back(std::move(end)); }};
  }
  const Error& error() const {
    REQUIRE(ends.size() == 1);
    REQUIRE_FALSE(ends[0].ok());
    return ends[0].error();
  }
};

constexpr const char* kStream =
    "{\"type\":\"ADDED\",\"object\":{\"a\":\"}\"}}\n{\"type\":\"BOOKMARK\",\"object\":{}}\n"
    "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n";
const std::vector<std::string> kEvents = {"ADDED {\"a\":\"}\"}", "BOOKMARK {}",
                                          "ERROR {\"code\":410}"};

}  // namespace

TEST_CASE("a watch gives the same events for every chunking") {
  for (std::size_t chunk : {1U, 2U, 3U, 7U, 40U, 1000U}) {
    Rig rig;
    Seen seen;
    core::WatchParams params;
    params.resource_version = "5";
    const auto pending = rig.client.watch(kPods, "shop", params, seen.handlers());
    auto& call = rig.transport.call(0);
    CHECK(call.line() ==
          "GET /api/v1/namespaces/shop/pods?allowWatchBookmarks=true&resourceVersion=5&"
          "timeoutSeconds=290&watch=true");
    CHECK(call.request().streaming);
    CHECK(call.request().idle_timeout == Duration(305000));
    CHECK(seen.opened == 0);
    call.head(200);
    CHECK(seen.opened == 1);
    call.data(kStream, chunk);
    CHECK(seen.events == kEvents);
    CHECK(seen.ends.empty());
    call.end();
    REQUIRE(seen.ends.size() == 1);
    CHECK(seen.ends[0].ok());
  }
}

TEST_CASE("a refused watch ends with the server's error and opens nothing") {
  Rig rig;
  Seen seen;
  const auto pending = rig.client.watch(kPods, "", {}, seen.handlers());
  auto& call = rig.transport.call(0);
  http::Headers headers;
  headers.add("Retry-After", "2");
  call.head(410, headers);
  call.data(R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})", 10);
  CHECK(seen.ends.empty());
  call.end();
  CHECK(seen.error().is_gone());
  CHECK(seen.error().status()->retry_after_seconds == 2);
  CHECK(seen.error().render() == "watch pods in all namespaces: too old");
  CHECK(seen.opened == 0);
  CHECK(seen.events.empty());
}

TEST_CASE("the body of a refusal is not kept without limit") {
  Rig rig;
  Seen seen;
  const auto pending = rig.client.watch(kPods, "", {}, seen.handlers());
  auto& call = rig.transport.call(0);
  call.head(503);
  const std::string part(10000, 'x');
  for (int i = 0; i < 100; ++i) call.data(part);
  call.end();
  CHECK(seen.error().kind() == ErrorKind::unavailable);
  CHECK(seen.error().status()->body.size() == 64U << 10U);
}

TEST_CASE("a redirect or an odd success is no watch") {
  for (int status : {204, 302}) {
    Rig rig;
    Seen seen;
    const auto pending = rig.client.watch(kPods, "", {}, seen.handlers());
    rig.transport.call(0).head(status);
    rig.transport.call(0).end();
    CHECK(seen.error().kind() == ErrorKind::unavailable);
    CHECK(seen.opened == 0);
  }
}

TEST_CASE("a redirect is told without what may be a secret in it") {
  const auto told = [](const std::string& location) {
    http::Headers headers;
    headers.set("Location", location);
    return error_of_answer(302, headers, "").message();
  };
  for (const char* location :
       {"https://user:SECRET@login.example/a?token=SECRET", "https://login.example/a#SECRET",
        "//SECRET@login.example/a?SECRET#SECRET", "https://user@SECRET@login.example/a"}) {
    INFO(location);
    CHECK(told(location).find("login.example/a,") != std::string::npos);
    CHECK(told(location).find("SECRET") == std::string::npos);
  }
  CHECK(told("/a@b?c").find("a redirect to /a@b,") != std::string::npos);
}

TEST_CASE("a broken stream ends the watch and the call") {
  struct Case {
    const char* data;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"{\"type\":\"ADDED\",\"object\":{}} x", ErrorKind::unavailable},
      {"{\"type\":\"ADDED\",\"object\":{}}{\"kind\":\"Status\"}{\"type\":\"ADDED\",\"object\":{}}",
       ErrorKind::unavailable},
  };
  for (const Case& c : cases) {
    Rig rig;
    Seen seen;
    const auto pending = rig.client.watch(kNodes, "", {}, seen.handlers());
    auto& call = rig.transport.call(0);
    call.head(200);
    call.data(c.data);
    CHECK(seen.events.size() == 1);
    CHECK(seen.error().kind() == c.kind);
    CHECK(seen.error().render().rfind("watch nodes: ", 0) == 0);
    CHECK(call.canceled());
  }
}

TEST_CASE("a stream that closes inside an event or breaks is an error that may be retried") {
  Rig rig;
  Seen cut;
  const auto first = rig.client.watch(kPods, "", {}, cut.handlers());
  rig.transport.call(0).head(200);
  rig.transport.call(0).data("{\"type\":\"ADDED\",");
  rig.transport.call(0).end();
  CHECK(cut.error().is_unreachable());
  Seen idle;
  const auto second = rig.client.watch(kPods, "", {}, idle.handlers());
  rig.transport.call(1).head(200);
  rig.transport.call(1).fail(Error(ErrorKind::timeout, "no bytes"));
  CHECK(idle.error().kind() == ErrorKind::timeout);
  CHECK(idle.error().is_retryable());
}

TEST_CASE("a watch may be destroyed inside each of its handlers") {
  Rig rig;
  for (int where = 0; where < 3; ++where) {
    PendingPtr pending;
    int events = 0;
    int ends = 0;
    const auto destroy_at = [&](int here) {
      if (here == where) pending.reset();
    };
    pending = rig.client.watch(kPods, "", {},
                               {[&] { destroy_at(0); },
                                [&](const core::WatchEvent&) {
                                  ++events;
                                  destroy_at(1);
                                },
                                [&](Result<void>) {
                                  ++ends;
                                  destroy_at(2);
                                }});
    auto& call = rig.transport.last();
    call.head(200);
    call.data(kStream);
    call.end();
    CHECK(events == (where == 0 ? 0 : where == 1 ? 1 : 3));
    CHECK(ends == (where == 2 ? 1 : 0));
    CHECK(call.canceled() == (where < 2));
  }
}

TEST_CASE("a watch that cannot be asked for ends in the next turn") {
  Rig rig;
  Seen seen;
  core::WatchParams params;
  params.timeout = Duration(1);
  const auto pending = rig.client.watch(kPods, "", params, seen.handlers());
  CHECK(seen.ends.empty());
  rig.run();
  CHECK(seen.error().kind() == ErrorKind::invalid);
  CHECK(rig.transport.size() == 0);
}
