// Objects that run themselves.
#include "hooks/loop_alarm.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

Printed printed(int time) {
  return {{"ConfigMap shop/a", Json{{"data", {{"same", "x"}, {"time", time}}}}}};
}

const core::ObjectKey kA{"shop", "a"};

}  // namespace

TEST_CASE("a loop is told once, with the paths that keep changing, and slowed down") {
  LoopAlarm alarm(4, Duration{60000});
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(alarm.note(kA, at(i), true, true, printed(i)));
    CHECK(alarm.delay(kA) == Duration{0});
  }
  const auto report = alarm.note(kA, at(5), true, true, printed(5));
  REQUIRE(report);
  CHECK(report->paths == std::vector<std::string>{"ConfigMap shop/a: .data.time"});
  CHECK(report->text().find(": .data.time") != std::string::npos);
  CHECK(alarm.delay(kA) == Duration{2000});
  CHECK_FALSE(alarm.note(kA, at(3000), true, true, printed(6)));
  CHECK(alarm.delay(kA) == Duration{4000});
  for (int i = 0; i < 20; ++i) (void)alarm.note(kA, at(4000), true, true, printed(i));
  CHECK(alarm.delay(kA) == Duration{60000});
}

TEST_CASE("a run that changes nothing ends the loop") {
  LoopAlarm alarm(1, Duration{60000});
  (void)alarm.note(kA, at(0), true, true, {});
  REQUIRE(alarm.note(kA, at(1), true, true, {}));
  CHECK_FALSE(alarm.note(kA, at(2), true, false, {}));
  CHECK(alarm.delay(kA) == Duration{0});
}

TEST_CASE("runs in different windows, of other causes and of other objects do not add up") {
  LoopAlarm alarm(2, Duration{1000});
  const core::ObjectKey b{"shop", "b"};
  CHECK_FALSE(alarm.note(kA, at(0), true, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1), true, true, {}));
  CHECK_FALSE(alarm.note(b, at(1), true, true, {}));
  CHECK_FALSE(alarm.note(kA, at(2), false, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1000), true, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1001), true, true, {}));
  CHECK(alarm.note(kA, at(1002), true, true, {}));
}

TEST_CASE("a loop whose hook prints the same blames others") {
  LoopAlarm alarm(2, Duration{1000});
  (void)alarm.note(kA, at(0), true, true, printed(1));
  (void)alarm.note(kA, at(1), true, true, printed(1));
  const auto report = alarm.note(kA, at(2), true, true, printed(1));
  REQUIRE(report);
  CHECK(report->paths.empty());
  CHECK(report->text().find("another program") != std::string::npos);
}

TEST_CASE("paths name what differs, what is new and what is gone, never values") {
  const Printed before = {{"A x", Json{{"l", {1, 2}}, {"m", {{"k", "secret"}}}}}, {"B x", Json()}};
  const Printed after = {{"A x", Json{{"l", {1, 3}}, {"n", 1}}}, {"C x", Json()}};
  CHECK(changes_of(before, after, 9) ==
        std::vector<std::string>{"A x: .l[1]", "A x: .n", "A x: .m", "C x: (new)", "B x: (gone)"});
  CHECK(changes_of(before, after, 2).size() == 2);
}

TEST_CASE("a loop says what was found for as long as it is slowed down") {
  LoopAlarm alarm(4, Duration{60000});
  for (int i = 0; i < 4; ++i) (void)alarm.note(kA, at(i), true, true, printed(i));
  CHECK_FALSE(alarm.found(kA));
  (void)alarm.note(kA, at(5), true, true, printed(5));
  (void)alarm.note(kA, at(3000), true, true, printed(6));
  REQUIRE(alarm.found(kA));
  CHECK(alarm.found(kA)->paths == std::vector<std::string>{"ConfigMap shop/a: .data.time"});
  (void)alarm.note(kA, at(9000), true, false, {});
  CHECK_FALSE(alarm.found(kA));
}
