// What becomes of reported happenings: new Events, series, floods, and writes that fail.
#include "runtime/event_aggregator.hpp"

#include <fmt/format.h>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

constexpr Duration kMinute{60000};

TimePoint at(Duration since) {
  return TimePoint{} + Duration{3600000} + since;
}
WallTime wall_at(Duration since) {
  return *base::parse_rfc3339("2026-01-02T03:00:00Z") + since;
}

const EventReporter kReporter{"example.com/web", "web-7f"};

Happening happening(const std::string& reason = "Failed", const std::string& name = "a") {
  Happening out;
  out.type = EventType::warning;
  out.reason = reason;
  out.action = "Reconcile";
  out.note = "it broke";
  out.regarding = {"demo.example.com/v1", "Website", "shop", name, "uid-" + name};
  return out;
}

Happening noted(const std::string& note) {
  Happening out = happening();
  out.note = note;
  return out;
}

Error api_error(int code, const std::string& body) {
  ErrorKind kind = ErrorKind::internal;
  if (code == 403) kind = ErrorKind::forbidden;
  if (code == 404) kind = ErrorKind::not_found;
  if (code == 422) kind = ErrorKind::invalid;
  if (code == 503) kind = ErrorKind::unavailable;
  if (code == 409) kind = ErrorKind::already_exists;
  base::ApiStatus status;
  status.code = code;
  status.body = body;
  return Error(kind, "refused", status);
}

struct Bench {
  base::Random random{1};
  EventLimits limits;
  EventAggregator events;

  explicit Bench(EventLimits given = {}) : limits(given), events(given, random) {}

  void observe(Duration when, const Happening& what = happening()) {
    const auto taken = events.observe(kReporter, what, at(when), wall_at(when));
    if (!taken.ok()) FAIL(taken.error().render());
  }
  // Takes what is due and lets it succeed.
  std::vector<EventWrite> flush(Duration when) {
    std::vector<EventWrite> out;
    while (auto write = events.take(at(when))) {
      events.on_result(write->id, nullptr, at(when));
      out.push_back(std::move(*write));
    }
    return out;
  }
};

}  // namespace

TEST_CASE("the first happening becomes an Event with all that the API asks for") {
  Bench bench;
  Happening what = happening();
  what.related = core::ObjectRef{"v1", "Pod", "shop", "p", ""};
  bench.observe(Duration{0}, what);
  const auto writes = bench.flush(Duration{0});
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].create);
  CHECK(writes[0].key.namespace_ == "shop");
  CHECK(writes[0].key.name.rfind("a.", 0) == 0);
  Json expected = Json::parse(R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
    "metadata":{"namespace":"shop"},"eventTime":"2026-01-02T03:00:00.000000Z",
    "reportingController":"example.com/web","reportingInstance":"web-7f","action":"Reconcile",
    "reason":"Failed","note":"it broke","type":"Warning",
    "regarding":{"apiVersion":"demo.example.com/v1","kind":"Website","namespace":"shop",
      "name":"a","uid":"uid-a"},
    "related":{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"p"}})");
  expected["metadata"]["name"] = writes[0].key.name;
  CHECK(writes[0].body == expected);
}

TEST_CASE("a repetition is a series of two at once, more are only counted until it is refreshed") {
  Bench bench;
  bench.observe(Duration{0});
  const auto first = bench.flush(Duration{0});
  bench.observe(kMinute);
  auto writes = bench.flush(kMinute);
  REQUIRE(writes.size() == 1);
  CHECK_FALSE(writes[0].create);
  CHECK(writes[0].key == first[0].key);
  CHECK(writes[0].body ==
        Json::parse(R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:01:00.000000Z"}})"));
  for (int i = 2; i <= 30; ++i) {
    bench.observe(kMinute * i);
    CHECK(bench.flush(kMinute * i).empty());
  }
  writes = bench.flush(kMinute * 31);  // 30 minutes after the last write
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].body["series"]["count"] == 31);
}

TEST_CASE("a series ends after six minutes without a happening, the next one is a new Event") {
  Bench bench;
  bench.observe(Duration{0});
  const auto first = bench.flush(Duration{0});
  bench.observe(Duration{1000});
  bench.observe(Duration{1000});
  REQUIRE(bench.flush(Duration{1000}).size() == 1);  // says 3: both came before the write
  bench.observe(Duration{2000});
  CHECK(bench.events.next_due() == at(Duration{2000} + kMinute * 6));
  const auto last = bench.flush(Duration{2000} + kMinute * 6);
  REQUIRE(last.size() == 1);
  CHECK(last[0].body["series"]["count"] == 4);
  CHECK(bench.flush(kMinute * 7).empty());
  CHECK_FALSE(bench.events.next_due().has_value());
  bench.observe(kMinute * 7);
  const auto next = bench.flush(kMinute * 7);
  REQUIRE(next.size() == 1);
  CHECK(next[0].create);
  CHECK(next[0].key.name != first[0].key.name);
}

TEST_CASE("whatever tells two happenings apart makes an Event of its own") {
  Bench bench;
  bench.observe(Duration{0});
  CHECK(bench.flush(Duration{0}).size() == 1);
  std::vector<Happening> others(7, happening());
  others[6].note = "it broke again";
  others[0].reason = "Other";
  others[1].action = "Delete";
  others[2].type = EventType::normal;
  others[3].regarding.uid = "uid-2";
  others[4].related = core::ObjectRef{"v1", "Pod", "shop", "p", ""};
  others[5].regarding.name = "b";
  for (const Happening& other : others) {
    bench.observe(Duration{0}, other);
    const auto writes = bench.flush(Duration{0});
    REQUIRE(writes.size() == 1);
    CHECK(writes[0].create);
  }
  CHECK(
      bench.events
          .observe({"example.com/web", "web-8"}, happening(), at(Duration{0}), wall_at(Duration{0}))
          .ok());
  CHECK(bench.flush(Duration{0})[0].create);
}

TEST_CASE("another note is told by another Event, and the series of the first one ends by itself") {
  Bench bench;
  for (int i = 0; i < 4; ++i) {
    bench.observe(Duration{i}, noted("disk is full"));
    CHECK(bench.flush(Duration{i}).size() == (i < 2 ? 1 : 0));
  }
  bench.observe(kMinute, noted("token expired"));
  const auto other = bench.flush(kMinute);
  REQUIRE(other.size() == 1);
  CHECK(other[0].create);
  CHECK(other[0].body["note"] == "token expired");
  bench.observe(kMinute * 2, noted("token expired"));
  CHECK(bench.flush(kMinute * 2)[0].key == other[0].key);
  const auto end = bench.flush(Duration{3} + kMinute * 6);
  REQUIRE(end.size() == 1);
  CHECK(end[0].body["series"]["count"] == 4);
  CHECK(end[0].key != other[0].key);
}

TEST_CASE("a note that comes back is told at once by the Event that has it") {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.observe(Duration{0}, noted("disk is full"));
  const auto first = bench.flush(Duration{0});
  bench.observe(kMinute, noted("token expired"));
  bench.flush(kMinute);
  bench.observe(kMinute * 2, noted("disk is full"));
  auto back = bench.flush(kMinute * 2);
  REQUIRE(back.size() == 1);
  CHECK(back[0].key == first[0].key);
  CHECK(back[0].body ==
        Json::parse(R"({"series":{"count":4,"lastObservedTime":"2026-01-02T03:02:00.000000Z"}})"));
  bench.observe(kMinute * 3, noted("disk is full"));
  CHECK(bench.flush(kMinute * 3).empty());
}

TEST_CASE("a note that is another each time is told a few times, and then counted") {
  Bench bench;
  std::vector<EventWrite> writes;
  for (int i = 0; i < 120; ++i) {
    bench.observe(Duration{i * 10000}, noted("failed after " + std::to_string(i) + " ms"));
    for (auto& write : bench.flush(Duration{i * 10000})) writes.push_back(std::move(write));
  }
  REQUIRE(writes.size() == 1 + 5 + 1);  // the first, five changes, and that the last is repeated
  CHECK(writes[5].body["note"] == "failed after 5 ms");
  CHECK(writes[6].key == writes[5].key);
  // Half an hour after the changes another one is told.
  for (int i = 20; i <= 30; ++i) bench.observe(kMinute * i, noted("failed after 5 ms"));
  bench.flush(kMinute * 31);
  bench.observe(kMinute * 31, noted("token expired"));
  const auto next = bench.flush(kMinute * 31);
  REQUIRE(next.size() == 1);
  CHECK(next[0].body["note"] == "token expired");
  // Other Events on the object have not been used up.
  bench.observe(kMinute * 31, happening("Other"));
  CHECK(bench.flush(kMinute * 31).size() == 1);
}

TEST_CASE("while Events are refused another note asks for none") {
  Bench bench;
  const Error forbidden = api_error(403, "");
  bench.observe(Duration{0});
  bench.events.on_result(bench.events.take(at(Duration{0}))->id, &forbidden, at(Duration{0}));
  bench.observe(Duration{1}, noted("token expired"));
  CHECK(bench.flush(Duration{1}).empty());
}

TEST_CASE("an Event about a cluster-scoped object stands in default, under a name that is valid") {
  Bench bench;
  Happening what = happening("Failed", "system:Node_x");
  what.regarding.namespace_.clear();
  bench.observe(Duration{0}, what);
  const auto writes = bench.flush(Duration{0});
  CHECK(writes[0].key.namespace_ == "default");
  CHECK(writes[0].key.name.rfind("system-node-x.", 0) == 0);
  CHECK(core::check_dns_subdomain(writes[0].key.name).empty());
  CHECK_FALSE(writes[0].body["regarding"].contains("namespace"));
  what.regarding.name = std::string(253, 'a');
  what.regarding.name[229] = '.';
  bench.observe(Duration{0}, what);
  CHECK(core::check_dns_subdomain(bench.flush(Duration{0})[0].key.name).empty());
  what.regarding.name = ":x:";
  bench.observe(Duration{0}, what);
  CHECK(core::check_dns_subdomain(bench.flush(Duration{0})[0].key.name).empty());
}

TEST_CASE("a note is cut to 1024 bytes between characters, and broken UTF-8 is mended") {
  Bench bench;
  Happening what = happening();
  what.note = std::string(1023, 'x') + "\xc3\xa4";
  bench.observe(Duration{0}, what);
  CHECK(bench.flush(Duration{0})[0].body["note"] == std::string(1023, 'x'));
  what = happening("Other");
  what.note = "a\xff" + std::string("\xc3\xa4");
  bench.observe(Duration{0}, what);
  CHECK(bench.flush(Duration{0})[0].body["note"] == "a?\xc3\xa4");
}

TEST_CASE("what the API would refuse is an error that names the field") {
  Bench bench;
  const auto error = [&](const EventReporter& reporter, const Happening& what) {
    const auto taken = bench.events.observe(reporter, what, at(Duration{0}), wall_at(Duration{0}));
    REQUIRE_FALSE(taken.ok());
    return taken.error().message();
  };
  CHECK(error(kReporter, happening("")) == "Event: reason is missing");
  CHECK(error(kReporter, happening(std::string(129, 'R'))) ==
        "Event: reason is longer than 128 bytes");
  Happening what = happening();
  what.action.clear();
  CHECK(error(kReporter, what) == "Event: action is missing");
  what = happening("Failed", "");
  CHECK(error(kReporter, what) == "Event: regarding has no kind or no name");
  CHECK(error({"not a name", "i"}, happening()).find("reportingController") != std::string::npos);
  CHECK(error({"example.com/web", ""}, happening()) == "Event: reportingInstance is missing");
  CHECK_FALSE(bench.events.next_due().has_value());
}

TEST_CASE(
    "an object that floods is slowed down, and its next Event tells how many were not written") {
  Bench bench;
  for (int i = 0; i < 40; ++i) bench.observe(Duration{0}, happening(fmt::format("R{}", i)));
  CHECK(bench.flush(Duration{0}).size() == 25);
  CHECK(bench.events.stats().suppressed == 15);
  bench.observe(Duration{0}, happening("R", "other"));  // another object is not slowed down
  CHECK(bench.flush(Duration{0}).size() == 1);
  bench.observe(kMinute * 4, happening("X"));
  CHECK(bench.flush(kMinute * 4).empty());
  bench.observe(kMinute * 5 + Duration{1000}, happening("Y"));
  const auto writes = bench.flush(kMinute * 5 + Duration{1000});
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].body["note"] ==
        "it broke (16 more Events on this object were too many to write)");
  CHECK(writes[0].body["reason"] == "Y");
}

TEST_CASE("what is remembered is bounded, and a series in flight is not forgotten") {
  EventLimits limits;
  limits.remembered = 2;
  Bench bench(limits);
  bench.observe(Duration{0}, happening("A", "a"));
  const auto open = bench.events.take(at(Duration{0}));
  REQUIRE(open);
  bench.observe(Duration{0}, happening("B", "b"));
  bench.observe(Duration{0}, happening("C", "c"));  // B goes, A is in flight
  const auto writes = bench.flush(Duration{0});
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].body["reason"] == "C");
  CHECK(bench.events.stats().dropped == 1);
  bench.events.on_result(open->id, nullptr, at(Duration{0}));
  bench.observe(Duration{1}, happening("A", "a"));
  CHECK_FALSE(bench.flush(Duration{1})[0].create);
}

TEST_CASE("a write that fails is tried again with backoff, and given up after a number of tries") {
  EventLimits limits;
  limits.tries = 3;
  limits.backoff = {Duration{1000}, Duration{60000}, 2.0, 0.0};
  Bench bench(limits);
  bench.observe(Duration{0});
  const Error down = api_error(503, "");
  auto write = bench.events.take(at(Duration{0}));
  CHECK_FALSE(bench.events.on_result(write->id, &down, at(Duration{0})));
  CHECK_FALSE(bench.events.take(at(Duration{999})));
  write = bench.events.take(at(Duration{1000}));
  REQUIRE(write);
  bench.events.on_result(write->id, &down, at(Duration{1000}));
  CHECK(bench.events.next_due() == at(Duration{3000}));
  write = bench.events.take(at(Duration{3000}));
  bench.events.on_result(write->id, &down, at(Duration{3000}));
  CHECK(bench.events.stats().dropped == 1);
  CHECK(bench.flush(kMinute * 7).empty());
  bench.observe(kMinute * 7);
  CHECK(bench.flush(kMinute * 7).size() == 1);
}

TEST_CASE("what was given up while no server was there, or for its words, hides no other note") {
  EventLimits limits;
  limits.tries = 1;
  for (const int code : {503, 422}) {
    INFO(code);
    Bench bench(limits);
    bench.observe(Duration{0}, noted("disk is full"));
    const Error error = api_error(code, "");
    bench.events.on_result(bench.events.take(at(Duration{0}))->id, &error, at(Duration{0}));
    // It happens this once.
    bench.observe(kMinute, noted("token expired"));
    const auto writes = bench.flush(kMinute);
    REQUIRE(writes.size() == 1);
    CHECK(writes[0].create);
    CHECK(writes[0].body["note"] == "token expired");
    bench.observe(kMinute * 2, noted("disk is full"));
    CHECK(bench.flush(kMinute * 2).empty());
  }
}

TEST_CASE("the server's Retry-After is waited for") {
  Bench bench;
  bench.observe(Duration{0});
  base::ApiStatus status;
  status.code = 429;
  status.retry_after_seconds = 90;
  const Error busy(ErrorKind::rate_limited, "slow down", status);
  bench.events.on_result(bench.events.take(at(Duration{0}))->id, &busy, at(Duration{0}));
  CHECK(bench.events.next_due() == at(Duration{90000}));
}

TEST_CASE("a create that is answered with AlreadyExists got through before") {
  Bench bench;
  bench.observe(Duration{0});
  const auto write = bench.events.take(at(Duration{0}));
  const Error exists = api_error(409, "");
  CHECK_FALSE(bench.events.on_result(write->id, &exists, at(Duration{0})));
  bench.observe(Duration{1});
  CHECK_FALSE(bench.flush(Duration{1})[0].create);
}

TEST_CASE("a series whose Event has expired is created anew with its count") {
  Bench bench;
  bench.observe(Duration{0});
  const auto first = bench.flush(Duration{0});
  bench.observe(Duration{1});
  const auto patch = bench.events.take(at(Duration{1}));
  const Error gone = api_error(404, "");
  CHECK_FALSE(bench.events.on_result(patch->id, &gone, at(Duration{1})));
  const auto again = bench.flush(Duration{1});
  REQUIRE(again.size() == 1);
  CHECK(again[0].create);
  CHECK(again[0].key.name != first[0].key.name);
  CHECK(again[0].body["series"]["count"] == 2);
}

TEST_CASE("a refusal is told once and not tried again, a dying namespace is not told at all") {
  Bench bench;
  const Error forbidden = api_error(403, "");
  bench.observe(Duration{0});
  const auto tell =
      bench.events.on_result(bench.events.take(at(Duration{0}))->id, &forbidden, at(Duration{0}));
  REQUIRE(tell);
  CHECK(*tell ==
        "Events cannot be written: refused; allow create and patch of events in events.k8s.io");
  bench.observe(Duration{1});
  CHECK(bench.flush(Duration{1}).empty());
  bench.observe(Duration{2}, happening("Other"));
  CHECK_FALSE(
      bench.events.on_result(bench.events.take(at(Duration{2}))->id, &forbidden, at(Duration{2})));

  Bench dying;
  const Error terminating = api_error(403, R"({"kind":"Status","details":{"causes":[
      {"reason":"NamespaceTerminating","message":"namespace shop is being terminated"}]}})");
  dying.observe(Duration{0});
  CHECK_FALSE(dying.events.on_result(dying.events.take(at(Duration{0}))->id, &terminating,
                                     at(Duration{0})));
  CHECK(dying.flush(kMinute).empty());
  CHECK(dying.events.stats().dropped == 1);
}

TEST_CASE("what was given up is tried afresh after half an hour, however often it happens") {
  Bench bench;
  const Error forbidden = api_error(403, "");
  bench.observe(Duration{0});
  bench.events.on_result(bench.events.take(at(Duration{0}))->id, &forbidden, at(Duration{0}));
  for (int i = 1; i < 30; ++i) {
    bench.observe(kMinute * i);
    CHECK(bench.flush(kMinute * i).empty());
  }
  CHECK(bench.flush(kMinute * 30).empty());
  bench.observe(kMinute * 30);
  CHECK(bench.flush(kMinute * 30).size() == 1);
}

TEST_CASE("when more objects fail than are remembered, new Events are limited altogether") {
  EventLimits limits;
  limits.remembered = 10;
  limits.burst_beyond = 5;
  Bench bench(limits);
  // A hundred objects fail in turn, again and again: each is forgotten before it fails again.
  std::size_t written = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 100; ++i) {
      const Duration when{round * 1000 + i};
      bench.observe(when, happening("Failed", "o" + std::to_string(i)));
      written += bench.flush(when).size();
    }
  }
  CHECK(written >= 10 + 5 + 40);
  CHECK(written < 300);  // of 5,000 happenings; those remembered are written as series
  CHECK(bench.events.stats().suppressed > 4000);
}
