// When spans are sent, again, and given up.
#include "hooks/trace_exporter.hpp"

#include "base/log.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct World {
  loop::EventLoop loop{loop::VirtualClock{}};
  base::Random random{1};
  test::ScriptedTransport* collector = nullptr;
  std::vector<std::string> log;
  std::unique_ptr<TraceExporter> exporter;

  explicit World(TraceTarget target = {}) {
    base::capture_log(&log);
    target.url = "http://c:4318/v1/traces";
    auto transport = std::make_unique<test::ScriptedTransport>(loop);
    collector = transport.get();
    exporter =
        std::make_unique<TraceExporter>(loop, std::move(target), std::move(transport), random);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { base::capture_log(nullptr); }

  void add(int count = 1) {
    for (int i = 0; i < count; ++i) {
      Span span;
      span.ids = new_trace(random);
      exporter->add(std::move(span));
    }
  }
  void pass(Duration time) {
    const TimePoint until = loop.now() + time;
    loop.run_until([&] { return loop.now() >= until; }, time);
  }
  // How long from now until so many requests were made.
  Duration until_request(std::size_t count) {
    const TimePoint from = loop.now();
    REQUIRE(loop.run_until([&] { return collector->size() == count; }, Duration{3600000}));
    return loop.now() - from;
  }
  bool logged(const std::string& text) const {
    return std::any_of(log.begin(), log.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }
};

http::Headers retry_after(const std::string& value) {
  http::Headers out;
  out.set("Retry-After", value);
  return out;
}

}  // namespace

TEST_CASE("a collector that fails is asked later each time, one that says when not before") {
  World w;
  for (int i = 0; i < 4; ++i) w.collector->answer(503);
  w.collector->answer(429, "", retry_after("300"));
  w.collector->answer(200, "{}");
  w.add();
  CHECK(w.until_request(1) == Duration{2000});
  Duration before{3000};
  for (std::size_t request = 2; request <= 5; ++request) {
    const Duration waited = w.until_request(request);
    CHECK(waited > before);
    before = waited;
  }
  CHECK(w.until_request(6) >= Duration{300000});
  w.pass(Duration{1});
  CHECK(w.exporter->sent() == 1);
  CHECK(w.exporter->dropped() == 0);
  // It is well again: the next one is sent soon.
  w.collector->answer(200, "{}");
  w.add();
  CHECK(w.until_request(7) == Duration{2000});
  CHECK(w.log.size() == 1);
}

TEST_CASE("what the collector rejects of a batch is dropped, which is told once") {
  World w;
  const std::string partial =
      R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"span too old"}})";
  w.collector->answer(200, partial);
  w.collector->answer(200, partial);
  for (std::size_t request = 1; request <= 2; ++request) {
    w.add(3);
    w.until_request(request);
    w.pass(Duration{1});
  }
  CHECK(w.exporter->sent() == 2);
  CHECK(w.exporter->dropped() == 4);
  REQUIRE(w.log.size() == 1);
  CHECK(w.logged("span too old"));
}

TEST_CASE("spans that a collector does not take at the end are told and counted") {
  World w;
  w.add(3);
  w.until_request(1);  // never answered
  w.add(2);
  bool done = false;
  w.exporter->flush([&] { done = true; });
  REQUIRE(w.loop.run_until([&] { return done; }, Duration{60000}));
  CHECK(w.exporter->dropped() == 5);
  CHECK(w.logged("spans=5"));
  CHECK(w.collector->call(0).canceled());
}

TEST_CASE("at the end what is refused is given up as well, and nothing is told of nothing") {
  World w;
  w.collector->answer(503);
  w.add(3);
  bool done = false;
  w.exporter->flush([&] { done = true; });
  REQUIRE(w.loop.run_until([&] { return done; }, Duration{60000}));
  CHECK(w.exporter->dropped() == 3);
  CHECK(w.logged("spans=3"));

  World well;
  well.collector->answer(200, "{}");
  well.add(3);
  done = false;
  well.exporter->flush([&] { done = true; });
  REQUIRE(well.loop.run_until([&] { return done; }, Duration{60000}));
  CHECK(well.exporter->sent() == 3);
  CHECK(well.log.empty());
}

TEST_CASE("a run that is not sampled has a trace for its hook, and no spans") {
  TraceTarget target;
  target.sampled = 0;
  World w(target);
  auto run = std::make_shared<RunTrace>(*w.exporter, w.loop, w.random);
  CHECK(run->ids().traceparent().ends_with("-00"));
  run->on_request({"get pods", "GET", "http://s/x", 200, nullptr, Duration{1}});
  run->end("reconcile web", {}, std::nullopt);
  w.pass(Duration{10000});
  CHECK(w.collector->size() == 0);
}

TEST_CASE("requests have the timeout and the resource that were asked for") {
  TraceTarget target;
  target.timeout = Duration{1500};
  target.service_name = "shop";
  target.resource = {{"team", "a"}};
  World w(target);
  w.add();
  w.until_request(1);
  const http::Request& request = w.collector->request(0);
  CHECK(request.response_timeout == Duration{1500});
  CHECK(request.connect_timeout == Duration{1500});
  CHECK(request.body.find(R"({"key":"team","value":{"stringValue":"a"}})") != std::string::npos);
  CHECK(request.body.find(R"("stringValue":"shop")") != std::string::npos);
}
