// What runs without a request, over objects that are not what their kind is.
#include "apiserver/step_guard.hpp"

#include "apiserver/support.hpp"
#include "base/log.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::config_map;
using test::kConfigMaps;
using test::Server;

namespace {

constexpr std::int64_t kHour = 3'600'000;

void take_for_object(const Json& number) {
  static_cast<void>(number.at("metadata"));
}

// Every write fails half way, as one does that meets such an object.
void break_writes(Server& server) {
  server.api.on_change([] { take_for_object(1); });
}

// A client to whom nothing can be told.
class BrokenSink : public test::FakeSink {
 public:
  using FakeSink::FakeSink;
  void send(std::string_view) override { take_for_object(1); }
};

std::shared_ptr<test::FakeSink::Record> broken_watch(Server& server) {
  ApiRequest request;
  request.method = "GET";
  request.path = kConfigMaps;
  request.query = "watch=true";
  request.headers.add("Accept", "application/json");
  const Reply reply = server.api.handle(request, server.now());
  REQUIRE(reply.watch != nullptr);
  auto record = std::make_shared<test::FakeSink::Record>();
  CHECK_NOTHROW(server.api.watches().attach(reply.watch, std::make_unique<BrokenSink>(record),
                                            server.steady(), server.now()));
  return record;
}

}  // namespace

TEST_CASE("an APIService that cannot be looked at is logged and left") {
  Server server;
  REQUIRE(server
              .post("/apis/apiregistration.k8s.io/v1/apiservices",
                    {{"metadata", {{"name", "v1.x.example.com"}}},
                     {"spec",
                      {{"group", "x.example.com"},
                       {"version", "v1"},
                       {"groupPriorityMinimum", 100},
                       {"versionPriority", 100},
                       {"service", {{"name", "x"}, {"namespace", "default"}}}}}})
              .code == 201);
  break_writes(server);
  std::vector<std::string> log;
  base::capture_log(&log);
  CHECK_NOTHROW(server.settle());
  base::capture_log(nullptr);
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("v1.x.example.com") != std::string::npos);
  server.api.on_change([] {});
  CHECK(server.post(kConfigMaps, config_map("a")).code == 201);
}

TEST_CASE("an Event whose end cannot be told does not keep the others") {
  Server server(test::an_hour());
  server.post(test::kEvents, test::started_event("a"));
  server.post(test::kEvents, test::started_event("b"));
  server.advance(kHour);
  break_writes(server);
  std::vector<std::string> log;
  base::capture_log(&log);
  CHECK_NOTHROW(server.settle());
  base::capture_log(nullptr);
  CHECK(log.size() == 2);
  CHECK(server.api.storage().size("events") == 0);
}

TEST_CASE("a watch that an object cannot be told to ends, and neither the write nor the others") {
  Server server;
  const auto good = server.watch(kConfigMaps + "?watch=true");
  const auto broken = broken_watch(server);
  CHECK_FALSE(broken->ended);
  std::vector<std::string> log;
  base::capture_log(&log);
  CHECK(server.post(kConfigMaps, config_map("a")).code == 201);
  base::capture_log(nullptr);
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("default/a") != std::string::npos);
  server.tick();
  CHECK(broken->ended);
  CHECK(server.post(kConfigMaps, config_map("b")).code == 201);
  CHECK(good->story() == "ADDED a,ADDED b");
  CHECK_FALSE(good->ended);
  // The state that it begins with.
  CHECK(broken_watch(server)->ended);
}

TEST_CASE("an object that is loaded and takes more memory than there is gives an error") {
  Server server;
  server.api.on_change([] { throw std::bad_alloc(); });
  const auto loaded = server.api.load(config_map("a"), "tester", server.now());
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().message().find("out of memory") != std::string::npos);
}

}  // namespace kubewatch::apiserver
