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

constexpr auto kPerhaps = LoopAlarm::Woken::perhaps_by_itself;
constexpr auto kItself = LoopAlarm::Woken::by_itself;
constexpr auto kOthers = LoopAlarm::Woken::by_others;
constexpr auto kRule = LoopAlarm::Woken::by_rule;

}  // namespace

TEST_CASE("a loop is told once, with the paths that keep changing, and slowed down") {
  LoopAlarm alarm(4, Duration{60000});
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(alarm.note(kA, at(i), kPerhaps, true, printed(i)));
    CHECK(alarm.delay(kA, at(i)) == Duration{0});
  }
  const auto report = alarm.note(kA, at(5), kPerhaps, true, printed(5));
  REQUIRE(report);
  CHECK(report->paths == std::vector<std::string>{"ConfigMap shop/a: .data.time"});
  CHECK(report->text().find(": .data.time") != std::string::npos);
  CHECK(alarm.delay(kA, at(5)) == Duration{2000});
  CHECK_FALSE(alarm.note(kA, at(3000), kPerhaps, true, printed(6)));
  CHECK(alarm.delay(kA, at(3000)) == Duration{4000});
  for (int i = 0; i < 20; ++i) (void)alarm.note(kA, at(4000), kPerhaps, true, printed(i));
  CHECK(alarm.delay(kA, at(4000)) == Duration{60000});
  // Nothing for a window, and as long as it was put off.
  CHECK(alarm.delay(kA, at(123999)) == Duration{60000});
  CHECK(alarm.delay(kA, at(124000)) == Duration{0});
  CHECK_FALSE(alarm.note(kA, at(124000), kPerhaps, true, printed(1)));
  CHECK(alarm.delay(kA, at(124001)) == Duration{0});
}

TEST_CASE("a fight with another program is one though each answer is followed by an empty run") {
  LoopAlarm alarm(4, Duration{60000});
  std::optional<LoopReport> report;
  for (int i = 0; i < 5; ++i) {
    report = alarm.note(kA, at(2 * i), kPerhaps, true, printed(1));  // the child was gone
    CHECK_FALSE(alarm.note(kA, at(2 * i + 1), kItself, false, printed(1)));
  }
  CHECK(report);
  CHECK(alarm.delay(kA, at(10)) == Duration{2000});
}

TEST_CASE("a run that changes nothing ends the loop") {
  for (const auto woken : {kPerhaps, kItself}) {
    LoopAlarm alarm(1, Duration{60000});
    (void)alarm.note(kA, at(0), woken, true, {});
    REQUIRE(alarm.note(kA, at(1), woken, true, {}));
    CHECK_FALSE(alarm.note(kA, at(2), woken, false, {}));
    CHECK(alarm.delay(kA, at(2)) == Duration{0});
  }
}

TEST_CASE("runs in different windows, of other causes and of other objects do not add up") {
  LoopAlarm alarm(2, Duration{1000});
  const core::ObjectKey b{"shop", "b"};
  CHECK_FALSE(alarm.note(kA, at(0), kPerhaps, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1), kPerhaps, true, {}));
  CHECK_FALSE(alarm.note(b, at(1), kPerhaps, true, {}));
  CHECK_FALSE(alarm.note(kA, at(2), kOthers, true, {}));
  CHECK_FALSE(alarm.note(kA, at(2), kRule, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1000), kPerhaps, true, {}));
  CHECK_FALSE(alarm.note(kA, at(1001), kPerhaps, true, {}));
  CHECK(alarm.note(kA, at(1002), kPerhaps, true, {}));
}

TEST_CASE("a loop whose hook prints the same blames others") {
  LoopAlarm alarm(2, Duration{1000});
  (void)alarm.note(kA, at(0), kPerhaps, true, printed(1));
  (void)alarm.note(kA, at(1), kPerhaps, true, printed(1));
  const auto report = alarm.note(kA, at(2), kPerhaps, true, printed(1));
  REQUIRE(report);
  CHECK(report->paths.empty());
  CHECK(report->text().find("another program") != std::string::npos);
}

TEST_CASE("a loop of which nothing is known but that it is one says no more") {
  LoopAlarm alarm(2, Duration{1000});
  (void)alarm.note(kA, at(0), kItself, true, {});
  (void)alarm.note(kA, at(1), kItself, true, {});
  const auto report = alarm.note(kA, at(2), kItself, true, {});
  REQUIRE(report);
  CHECK_FALSE(report->compared);
  CHECK(report->text().find("prints the same") == std::string::npos);
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
  for (int i = 0; i < 4; ++i) (void)alarm.note(kA, at(i), kPerhaps, true, printed(i));
  CHECK_FALSE(alarm.found(kA, at(4)));
  (void)alarm.note(kA, at(5), kPerhaps, true, printed(5));
  (void)alarm.note(kA, at(3000), kPerhaps, true, printed(6));
  REQUIRE(alarm.found(kA, at(3000)));
  CHECK(alarm.found(kA, at(3000))->paths ==
        std::vector<std::string>{"ConfigMap shop/a: .data.time"});
  (void)alarm.note(kA, at(9000), kPerhaps, false, {});
  CHECK_FALSE(alarm.found(kA, at(9000)));
}
