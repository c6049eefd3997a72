// The recorder over a scripted server: requests, order, and that nobody waits.
#include "runtime/event_recorder.hpp"

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

Happening happening(const std::string& reason) {
  Happening out;
  out.reason = reason;
  out.action = "Reconcile";
  out.regarding = {"v1", "ConfigMap", "shop", "a", "u"};
  return out;
}

const EventReporter kReporter{"example.com/web", "web-7f"};

}  // namespace

TEST_CASE("an Event is posted, its repetition patched, one write at a time") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  REQUIRE(recorder.record(kReporter, happening("A")).ok());
  CHECK(rig.call(0).line() == "POST /apis/events.k8s.io/v1/namespaces/shop/events");
  const Json sent = Json::parse(rig.transport.request(0).body);
  REQUIRE(recorder.record(kReporter, happening("A")).ok());
  rig.turn();
  CHECK(rig.transport.size() == 1);
  rig.answer(0, 201, sent.dump());
  const std::string name = sent["metadata"]["name"].get<std::string>();
  CHECK(rig.call(1).line() == "PATCH /apis/events.k8s.io/v1/namespaces/shop/events/" + name);
  CHECK(rig.transport.request(1).headers.get("Content-Type") == "application/merge-patch+json");
  CHECK(Json::parse(rig.transport.request(1).body)["series"]["count"] == 2);
  rig.answer(1, 200, sent.dump());
  CHECK(recorder.stats().created == 1);
}

TEST_CASE("a slow server holds up nobody: a few writes are open, the rest wait their turn") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(recorder.record(kReporter, happening("R" + std::to_string(i))).ok());
  }
  rig.turn();
  CHECK(rig.transport.size() == 4);
  for (std::size_t i = 0; i < 10; ++i) rig.answer(i, 201, rig.transport.request(i).body);
  CHECK(recorder.stats().created == 10);
}

TEST_CASE("a failed write is sent again by its timer, and a recorder may go in between") {
  test::ApiRig rig;
  EventLimits limits;
  limits.backoff = {Duration{2}, Duration{2}, 1.0, 0.0};
  auto recorder = std::make_unique<EventRecorder>(rig.client, rig.random, limits);
  REQUIRE(recorder->record(kReporter, happening("A")).ok());
  rig.answer(0, 503, "down");
  rig.answer(1, 503, "down");
  rig.call(2);
  recorder.reset();
  CHECK(rig.transport.call(2).canceled());
}

TEST_CASE("what the API would refuse is not sent") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  CHECK_FALSE(recorder.record(kReporter, happening("")).ok());
  rig.turn();
  CHECK(rig.transport.size() == 0);
}

TEST_CASE("a flush ends once all is written, also what had to wait for its turn") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  for (int i = 0; i < 6; ++i) {
    REQUIRE(recorder.record(kReporter, happening("R" + std::to_string(i))).ok());
  }
  REQUIRE(recorder.record(kReporter, happening("R0")).ok());
  bool flushed = false;
  recorder.flush(Duration{60'000}, [&] { flushed = true; });
  for (std::size_t i = 0; i < 7; ++i) {
    rig.call(i);
    rig.turn();
    CHECK_FALSE(flushed);
    rig.answer(i, 201, rig.transport.request(i).body);
  }
  REQUIRE(rig.until([&] { return flushed; }));
  CHECK(rig.transport.size() == 7);
  bool again = false;
  recorder.flush(Duration{60'000}, [&] { again = true; });
  CHECK(again);
}

TEST_CASE("a flush writes how often it was, which would have waited for a refresh") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  const auto record = [&](int times) {
    for (int i = 0; i < times; ++i) REQUIRE(recorder.record(kReporter, happening("A")).ok());
  };
  const auto count = [&](std::size_t at) {
    return Json::parse(rig.transport.request(at).body)["series"]["count"];
  };
  record(1);
  rig.call(0);
  const std::string event = rig.transport.request(0).body;
  rig.answer(0, 201, event);
  record(1);
  rig.answer(1, 200, event);
  record(3);
  rig.turn();
  CHECK(rig.transport.size() == 2);
  bool flushed = false;
  recorder.flush(Duration{60'000}, [&] { flushed = true; });
  REQUIRE_FALSE(flushed);
  CHECK(rig.call(2).line().starts_with("PATCH "));
  CHECK(count(2) == 5);
  record(1);  // while it is on its way
  rig.answer(2, 200, event);
  rig.call(3);
  CHECK(count(3) == 6);
  CHECK_FALSE(flushed);
  rig.answer(3, 200, event);
  REQUIRE(rig.until([&] { return flushed; }));
  // Who goes on after all waits for the refresh again.
  record(1);
  rig.turn();
  CHECK(rig.transport.size() == 4);
}

TEST_CASE("a flush waits neither for a server that does not answer nor for a later try") {
  test::ApiRig rig;
  EventRecorder recorder(rig.client, rig.random);
  REQUIRE(recorder.record(kReporter, happening("A")).ok());
  bool flushed = false;
  recorder.flush(Duration{1}, [&] { flushed = true; });
  REQUIRE(rig.until([&] { return flushed; }));
  flushed = false;
  recorder.flush(Duration{60'000}, [&] { flushed = true; });
  rig.answer(0, 503, "down");
  REQUIRE(rig.until([&] { return flushed; }));
  CHECK(rig.transport.size() == 1);
}
