#include "apiserver/event_expiry.hpp"

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::Server;

namespace {

constexpr std::int64_t kMinute = 60'000;

void pass(Server& server, std::int64_t minutes) {
  server.advance(minutes * kMinute);
  server.settle();
}

bool exists(Server& server, const std::string& name) {
  return server.get(test::kEvents + "/" + name).code == 200;
}

}  // namespace

TEST_CASE("an Event goes an hour after its last write, and watches hear of it") {
  Server server(test::an_hour());
  REQUIRE(server.post(test::kEvents, test::started_event("once")).code == 201);
  REQUIRE(server.post(test::kEvents, test::started_event("again")).code == 201);
  server.post(test::kConfigMaps, test::config_map("kept"));
  const auto record = server.watch(test::kEvents + "?watch=1&resourceVersion=" +
                                   server.get(test::kEvents).at({"metadata", "resourceVersion"}));
  const auto group = server.watch("/apis/events.k8s.io/v1/events?watch=1");
  pass(server, 59);
  REQUIRE(server.merge(test::kEvents + "/again", {{"count", 2}}).code == 200);
  CHECK(exists(server, "once"));
  pass(server, 1);
  CHECK_FALSE(exists(server, "once"));
  CHECK(exists(server, "again"));
  CHECK(record->story() == "MODIFIED again,DELETED once");
  CHECK(group->story().ends_with("DELETED once"));
  pass(server, 58);
  // What changes nothing is no write.
  server.merge(test::kEvents + "/again", {{"reason", "Started"}});
  pass(server, 1);
  CHECK_FALSE(exists(server, "again"));
  pass(server, 6000);
  CHECK(server.get(test::kConfigMaps + "/kept").code == 200);
}

TEST_CASE("an Event that is made again has its own hour") {
  Server server(test::an_hour());
  server.post(test::kEvents, test::started_event("a"));
  pass(server, 30);
  server.remove(test::kEvents + "/a");
  server.post(test::kEvents, test::started_event("a"));
  pass(server, 30);
  CHECK(exists(server, "a"));
  pass(server, 30);
  CHECK_FALSE(exists(server, "a"));
}

TEST_CASE("finalizers do not hold an Event, but a delete that waits for them does") {
  Server server(test::an_hour());
  for (const char* name : {"alive", "dying"}) {
    Json held = test::started_event(name);
    held["metadata"]["finalizers"] = {"x.io/hold"};
    server.post(test::kEvents, held);
  }
  server.remove(test::kEvents + "/dying");
  pass(server, 60);
  CHECK_FALSE(exists(server, "alive"));
  CHECK(exists(server, "dying"));
  server.merge(test::kEvents + "/dying", {{"reason", "Other"}});
  pass(server, 60);
  CHECK_FALSE(exists(server, "dying"));
}

TEST_CASE("many Events that end at once go in parts") {
  Server server(test::an_hour());
  for (int i = 0; i < 200; ++i)
    server.post(test::kEvents, test::started_event("e" + std::to_string(i)));
  server.advance(60 * kMinute);
  CHECK(server.api.step(server.now()));
  CHECK(server.api.storage().size("events") > 100);
  server.settle();
  CHECK(server.api.storage().size("events") == 0);
}

TEST_CASE("Events that a restore brings back go, too") {
  Server server(test::an_hour());
  server.post(test::kEvents, test::started_event("a"));
  server.post(test::kEvents, test::started_event("b"));
  const auto backup = server.api.storage().back_up();
  server.remove(test::kEvents + "/a");
  server.api.storage().restore(*backup);
  CHECK(exists(server, "a"));
  pass(server, 60);
  CHECK_FALSE(exists(server, "a"));
  CHECK_FALSE(exists(server, "b"));
}

TEST_CASE("where no time is set, Events stay") {
  Server server;
  server.post(test::kEvents, test::started_event("a"));
  pass(server, 60 * 24 * 365);
  CHECK(exists(server, "a"));
}

}  // namespace kubewatch::apiserver
