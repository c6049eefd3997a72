// What a turn of the event loop took.
#include "loop/turn_times.hpp"

#include "support/catch.hpp"

using namespace kubewatch::loop;
using namespace std::chrono_literals;

namespace {

TurnTimes::Time at(TurnTimes::Span since) {
  return TurnTimes::Time{} + 1h + since;
}

}  // namespace

TEST_CASE("time that a callback waits for somebody else is not the loop's work") {
  TurnTimes times;
  times.begin(at(0s));
  times.begin_callback(at(0s));
  times.waited(30s);
  times.end_callback(CallbackKind::posted, at(30s + 5ms));
  times.begin_callback(at(30s + 5ms));
  times.end_callback(CallbackKind::timer, at(30s + 205ms));
  CHECK(times.busy(at(30s + 205ms)) == 205ms);
  CHECK(times.slowest(at(30s + 205ms)) == CallbackKind::timer);
  // The next turn has waited for nobody.
  times.begin(at(40s));
  CHECK(times.began() == at(40s));
  CHECK(times.busy(at(41s)) == 1s);
}

TEST_CASE("what no callback accounts for is the network's") {
  TurnTimes times;
  times.begin(at(0s));
  times.begin_callback(at(400ms));
  times.end_callback(CallbackKind::signal, at(500ms));
  CHECK(times.slowest(at(500ms)) == CallbackKind::network);
  times.begin(at(1s));
  times.begin_callback(at(1s + 100ms));
  times.end_callback(CallbackKind::signal, at(1s + 500ms));
  CHECK(times.slowest(at(1s + 500ms)) == CallbackKind::signal);
}
