#include "runtime/stream_backoff.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{Duration{ms}};
}

StreamBackoff backoff() {
  return StreamBackoff({Duration{100}, Duration{1000}, 2.0, 0.0}, Duration{5000});
}

}  // namespace

TEST_CASE("a stream whose list fails backs off, though each try opens and begins to list") {
  base::Random random(1);
  StreamBackoff b = backoff();
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    b.sign(at(i), StreamSign::opened);
    b.sign(at(i), StreamSign::init);
    b.sign(at(i), StreamSign::synced);  // listing may work where watching does not
    waits.push_back(b.fail(at(i), random).count());
  }
  CHECK(waits == std::vector<std::int64_t>{100, 200, 400, 800, 1000});
}

TEST_CASE("a change or a bookmark resets a stream's backoff, and so does a long life") {
  base::Random random(1);
  StreamBackoff b = backoff();
  b.fail(at(0), random);
  b.fail(at(0), random);
  b.sign(at(1), StreamSign::alive);
  CHECK(b.fail(at(2), random) == Duration{100});
  CHECK(b.fail(at(3), random) == Duration{200});
  b.sign(at(10), StreamSign::opened);
  CHECK(b.fail(at(5009), random) == Duration{400});
  b.sign(at(6000), StreamSign::opened);
  CHECK(b.fail(at(11000), random) == Duration{100});
  // A life counts once.
  CHECK(b.fail(at(99000), random) == Duration{200});
}

TEST_CASE("the health of a stream tells since when it fails, and why") {
  StreamMonitor monitor("pods");
  CHECK_FALSE(monitor.health().ready);
  CHECK(monitor.failed(at(100), "forbidden", Duration{50}));
  CHECK_FALSE(monitor.failed(at(200), "still forbidden", Duration{70}));
  CHECK(monitor.health().failing_since == at(100));
  CHECK(monitor.health().last_error == "still forbidden");
  CHECK(monitor.health().failures == 2);
  CHECK(monitor.health().retry_at == at(270));
  CHECK_FALSE(monitor.sign(StreamSign::init));
  CHECK(monitor.health().failing_since);
  CHECK(monitor.sign(StreamSign::synced));
  CHECK(monitor.health().ready);
  CHECK_FALSE(monitor.health().failing_since);
  CHECK_FALSE(monitor.health().retry_at);
  CHECK_FALSE(monitor.sign(StreamSign::alive));
  monitor.failed(at(300), "reset", std::nullopt);
  CHECK(monitor.health().ready);  // it has a state, if not the newest
  CHECK(monitor.sign(StreamSign::alive));
  CHECK(monitor.sign(StreamSign::outdated));
  CHECK_FALSE(monitor.health().ready);
  CHECK_FALSE(monitor.sign(StreamSign::outdated));
  CHECK_FALSE(monitor.sign(StreamSign::alive));
  CHECK_FALSE(monitor.health().ready);
  CHECK(monitor.sign(StreamSign::synced));
  CHECK(monitor.health().ready);
}
