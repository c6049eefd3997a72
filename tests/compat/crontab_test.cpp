// Schedules with seconds, words and intervals.
#include "compat/crontab.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using compat::Crontab;
using compat::CrontabClock;

namespace {

// 2026-01-01T00:00:00Z and so many seconds.
WallTime at(int seconds) {
  return WallTime{std::chrono::seconds{1767225600 + seconds}};
}

Crontab crontab(const std::string& text) {
  auto parsed = Crontab::parse("TZ=UTC " + text);
  INFO((parsed.ok() ? "" : parsed.error().render()));
  REQUIRE(parsed.ok());
  return *std::move(parsed);
}

}  // namespace

TEST_CASE("six fields have the seconds in front") {
  const Crontab ten = crontab("*/10 * * * * *");
  CHECK(ten.next(at(0)) == at(10));
  CHECK(ten.next(at(9)) == at(10));
  CHECK(ten.next(at(50)) == at(60));
  const Crontab late = crontab("59 59 23 * * *");
  CHECK(late.next(at(0)) == at(86399));
  CHECK(late.next(at(86399)) == at(86399 + 86400));
  const Crontab some = crontab("5,30-32 0 * * * *");
  CHECK(some.next(at(5)) == at(30));
  CHECK(some.next(at(32)) == at(3605));
}

TEST_CASE("five fields are whole minutes") {
  const Crontab five = crontab("*/5 * * * *");
  CHECK(five.next(at(0)) == at(300));
  CHECK(five.next(at(299)) == at(300));
}

TEST_CASE("fields are apart by blanks of any kind") {
  CHECK(crontab("*/5\t*\t*\t*\t*").next(at(0)) == at(300));
  CHECK(crontab("\t*/10 *\t* \t * * *\n").next(at(0)) == at(10));
  CHECK(crontab("\t@hourly").next(at(1)) == at(3600));
}

TEST_CASE("words and question marks stand for fields") {
  CHECK(crontab("@hourly").next(at(1)) == at(3600));
  CHECK(crontab("@daily").next(at(1)) == at(86400));
  CHECK(crontab("0 0 12 ? * ?").next(at(0)) == at(12 * 3600));
}

TEST_CASE("a step beyond its field is its first value, and empty items are passed over") {
  CHECK(crontab("*/60 * * * *").next(at(0)) == at(3600));
  CHECK(crontab("*/90 0 * * * *").next(at(1)) == at(3600));
  CHECK(crontab("0 */24 * * *").next(at(0)) == at(86400));
  CHECK(crontab("0,30, * * * *").next(at(0)) == at(1800));
  CHECK(crontab(",15,,45, * * * * *").next(at(15)) == at(45));
  CHECK(crontab("5/2147483647 * * * *").next(at(0)) == at(300));
  CHECK_FALSE(Crontab::parse("*/2147483648 * * * *").ok());
  CHECK_FALSE(Crontab::parse("*/0 * * * *").ok());
  CHECK_FALSE(Crontab::parse(", * * * *").ok());
}

TEST_CASE("an interval counts from the last run") {
  const auto every = Crontab::parse("@every 1m30s");
  REQUIRE(every.ok());
  CHECK(every->next(at(7)) == at(97));
  CHECK_FALSE(Crontab::parse("@every 0s").ok());
  CHECK_FALSE(Crontab::parse("@every soon").ok());
}

TEST_CASE("what is no schedule is refused in words") {
  for (const char* text : {"", "*", "* * * *", "* * * * * * *", "60 * * * * *", "@never"}) {
    CHECK_FALSE(Crontab::parse(text).ok());
  }
  const auto seconds = Crontab::parse("99 * * * * *");
  REQUIRE_FALSE(seconds.ok());
  CHECK(seconds.error().message().find("seconds") != std::string::npos);
  CHECK_FALSE(Crontab::parse("0 0 30 2 *")->next(at(0)).has_value());
}

TEST_CASE("ticks that were slept through are one run") {
  CrontabClock clock(crontab("*/10 * * * * *"), at(1));
  CHECK(clock.wait(at(1)) == Duration{9000});
  CHECK_FALSE(clock.is_due(at(9)));
  CHECK(clock.is_due(at(10)));
  CHECK_FALSE(clock.is_due(at(10)));
  CHECK(clock.is_due(at(500)));
  CHECK_FALSE(clock.is_due(at(501)));
  CHECK(clock.is_due(at(510)));
}

TEST_CASE("a clock that was set back runs no tick twice and does not fall silent") {
  CrontabClock clock(crontab("0 1,2 * * *"), at(0));
  CHECK(clock.is_due(at(3600)));
  CHECK_FALSE(clock.is_due(at(3500)));
  CHECK_FALSE(clock.is_due(at(3601)));
  CHECK(clock.is_due(at(7200)));
  CrontabClock wrong(crontab("0 * * * *"), at(10 * 86400));
  CHECK_FALSE(wrong.is_due(at(10)));
  CHECK(wrong.is_due(at(3600)));
}

TEST_CASE("what is due in every hour follows a clock that was set back a little") {
  for (const char* text : {"*/10 * * * * *", "@every 10s"}) {
    CAPTURE(text);
    CrontabClock clock(compat::Crontab::parse(text).value(), at(7200));
    CHECK(clock.is_due(at(7210)));
    CHECK_FALSE(clock.is_due(at(3600)));
    CHECK_FALSE(clock.is_due(at(3609)));
    CHECK(clock.is_due(at(3610)));
  }
}
