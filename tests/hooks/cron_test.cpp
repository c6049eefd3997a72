// When a schedule is due: fields, months, clocks that change, sleep and jumps.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "hooks/rule_cron.hpp"
#include "support/catch.hpp"
#include "support/tzif.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

WallTime at(const std::string& text) {
  const auto parsed = base::parse_rfc3339(text);
  REQUIRE(parsed.ok());
  return *parsed;
}

CronSchedule cron(const std::string& text, const std::string& posix = "UTC0") {
  auto zone = base::TimeZone::parse(test::tzif({}, 0, posix));
  REQUIRE(zone.ok());
  auto out = CronSchedule::parse(text, *zone);
  REQUIRE(out.ok());
  return *out;
}

std::vector<std::string> ticks(const CronSchedule& schedule, const std::string& from, int count) {
  std::vector<std::string> out;
  WallTime now = at(from);
  for (int i = 0; i < count; ++i) {
    const auto next = schedule.next(now);
    if (!next) break;
    out.push_back(base::format_rfc3339(*next));
    now = *next;
  }
  return out;
}

using Texts = std::vector<std::string>;
constexpr const char* kRome = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace

TEST_CASE("a schedule gives its next times") {
  CHECK(ticks(cron("*/20 * * * *"), "2026-01-31T23:35:10Z", 3) ==
        Texts{"2026-01-31T23:40:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:20:00Z"});
  CHECK(ticks(cron("30 4 1,15 * *"), "2026-12-20T00:00:00Z", 2) ==
        Texts{"2027-01-01T04:30:00Z", "2027-01-15T04:30:00Z"});
  CHECK(ticks(cron("0 0 29 feb *"), "2026-01-01T00:00:00Z", 2) ==
        Texts{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"});
  CHECK(ticks(cron("5/25 9-17/4 * * mon-fri"), "2026-11-20T17:31:00Z", 3) ==
        Texts{"2026-11-20T17:55:00Z", "2026-11-23T09:05:00Z", "2026-11-23T09:30:00Z"});
  CHECK(ticks(cron("0 12 * * 7"), "2026-11-21T00:00:00Z", 1) == Texts{"2026-11-22T12:00:00Z"});
  // The exact moment is not after itself.
  CHECK(ticks(cron("0 12 * * *"), "2026-11-21T12:00:00Z", 1) == Texts{"2026-11-22T12:00:00Z"});
}

TEST_CASE("a step beyond its field leaves its first value") {
  CHECK(ticks(cron("*/60 * * * *"), "2026-01-01T00:00:00Z", 2) ==
        Texts{"2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"});
  CHECK(ticks(cron("10-20/2147483647 */24 * * *"), "2026-01-01T00:00:00Z", 2) ==
        Texts{"2026-01-01T00:10:00Z", "2026-01-02T00:10:00Z"});
  CHECK_FALSE(check_cron("*/0 * * * *").empty());
  CHECK_FALSE(check_cron("0,30, * * * *").empty());
}

TEST_CASE("the fields of a schedule are apart by blanks of any kind") {
  CHECK(check_cron("*/5\t*\t*\t*\t*").empty());
  CHECK(ticks(cron("\t0\t3  *\t * mon\n"), "2026-01-01T00:00:00Z", 1) ==
        ticks(cron("0 3 * * mon"), "2026-01-01T00:00:00Z", 1));
}

TEST_CASE("either day field is enough when both are given") {
  CHECK(ticks(cron("0 0 13 * fri"), "2026-11-01T00:00:00Z", 4) ==
        Texts{"2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z",
              "2026-11-27T00:00:00Z"});
  CHECK(ticks(cron("0 0 */10 * fri"), "2026-11-01T00:00:00Z", 1) == Texts{"2026-12-11T00:00:00Z"});
}

TEST_CASE("a day that never comes has no next time") {
  CHECK_FALSE(cron("0 0 30 2 *").next(at("2026-01-01T00:00:00Z")));
}

TEST_CASE("a schedule follows the clocks of its zone") {
  CHECK(ticks(cron("0 3 * * *", kRome), "2026-03-27T12:00:00Z", 3) ==
        Texts{"2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"});
}

TEST_CASE("a time that the clocks skip runs once, at the moment they change") {
  CHECK(ticks(cron("*/30 2 * * *", kRome), "2026-03-28T12:00:00Z", 3) ==
        Texts{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z", "2026-03-30T00:30:00Z"});
  // Of every hour: 03:30 comes half an hour later anyway.
  CHECK(ticks(cron("30 * * * *", kRome), "2026-03-29T00:00:00Z", 2) ==
        Texts{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"});
}

TEST_CASE("a time that the clocks show twice runs once, one of every hour both times") {
  CHECK(ticks(cron("30 2 * * *", kRome), "2026-10-24T12:00:00Z", 2) ==
        Texts{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"});
  CHECK(ticks(cron("30 * * * *", kRome), "2026-10-24T23:45:00Z", 4) ==
        Texts{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z",
              "2026-10-25T03:30:00Z"});
}

TEST_CASE("ticks missed while the machine slept run once") {
  ScheduleClock clock(cron("*/5 * * * *"), at("2026-01-01T00:01:00Z"));
  CHECK_FALSE(clock.is_due(at("2026-01-01T00:04:59Z")));
  CHECK(clock.is_due(at("2026-01-01T07:33:00Z")));
  CHECK_FALSE(clock.is_due(at("2026-01-01T07:33:00Z")));
  CHECK_FALSE(clock.is_due(at("2026-01-01T07:34:59Z")));
  CHECK(clock.is_due(at("2026-01-01T07:35:00Z")));
}

TEST_CASE("a time between the last run and now was missed, whoever was away") {
  const CronSchedule schedule = cron("0 3 * * *");
  CHECK(schedule.missed(at("2024-05-01T02:59:59Z"), at("2024-05-01T03:00:00Z")));
  CHECK(schedule.missed(at("2024-05-01T04:00:00Z"), at("2024-05-09T02:00:00Z")));
  CHECK_FALSE(schedule.missed(at("2024-05-01T03:00:00Z"), at("2024-05-02T02:59:59Z")));
  CHECK_FALSE(cron("0 0 30 2 *").missed(at("2024-05-01T00:00:00Z"), at("2034-05-01T00:00:00Z")));
}

TEST_CASE("a clock that is set back a little runs no tick twice, one that was days ahead goes on") {
  ScheduleClock clock(cron("0 1,2 * * *"), at("2026-01-01T00:30:00Z"));
  CHECK(clock.is_due(at("2026-01-01T01:00:00Z")));
  CHECK_FALSE(clock.is_due(at("2026-01-01T00:58:00Z")));
  CHECK_FALSE(clock.is_due(at("2026-01-01T01:00:00Z")));
  CHECK(clock.is_due(at("2030-01-01T01:00:00Z")));
  CHECK_FALSE(clock.is_due(at("2026-01-01T01:10:00Z")));
  CHECK(clock.is_due(at("2026-01-01T02:00:00Z")));
}

TEST_CASE("a schedule of every hour follows a clock that is set back a little") {
  ScheduleClock minutes(cron("* * * * *"), at("2026-01-01T12:00:30Z"));
  CHECK(minutes.is_due(at("2026-01-01T12:01:00Z")));
  CHECK_FALSE(minutes.is_due(at("2026-01-01T10:31:20Z")));
  CHECK(minutes.wait(at("2026-01-01T10:31:55Z")) == Duration{5000});
  CHECK(minutes.is_due(at("2026-01-01T10:32:00Z")));
  CHECK(minutes.is_due(at("2026-01-01T10:33:00Z")));

  ScheduleClock hours(cron("0 * * * *"), at("2026-01-01T00:30:00Z"));
  CHECK(hours.is_due(at("2026-01-01T01:00:00Z")));
  CHECK_FALSE(hours.is_due(at("2026-01-01T00:58:00Z")));
  CHECK(hours.is_due(at("2026-01-01T01:00:00Z")));

  // Not of every hour, though of many.
  ScheduleClock working(cron("*/5 9-17 * * *"), at("2026-01-01T12:04:00Z"));
  CHECK(working.is_due(at("2026-01-01T12:05:00Z")));
  CHECK_FALSE(working.is_due(at("2026-01-01T12:00:00Z")));
  CHECK_FALSE(working.is_due(at("2026-01-01T12:05:00Z")));
  CHECK(working.is_due(at("2026-01-01T12:10:00Z")));
}

TEST_CASE("a schedule's clock is looked at again before it is due, for jumps") {
  const ScheduleClock clock(cron("0 * * * *"), at("2026-01-01T00:00:00Z"));
  CHECK(clock.wait(at("2026-01-01T00:00:00Z")) == kLookAtSchedule);
  CHECK(clock.wait(at("2026-01-01T00:59:59Z")) == Duration{1000});
  CHECK(clock.wait(at("2026-01-01T01:00:01Z")) == Duration{1});
}
