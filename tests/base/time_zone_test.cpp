// Offsets by transitions and by rule, and times that clocks skip or show twice.
#include "base/time_zone.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/time.hpp"
#include "support/catch.hpp"
#include "support/tzif.hpp"

using namespace kubewatch;
using base::TimeZone;

namespace {

std::int64_t utc(const std::string& text) {
  const auto at = base::parse_rfc3339(text);
  REQUIRE(at.ok());
  return std::chrono::floor<std::chrono::seconds>(*at).time_since_epoch().count();
}

TimeZone zone(const std::string& posix) {
  auto out = TimeZone::parse(test::tzif({}, 0, posix));
  REQUIRE(out.ok());
  return *out;
}

}  // namespace

TEST_CASE("the rule at the end of a zone gives summer and standard time") {
  const TimeZone rome = zone("CET-1CEST,M3.5.0,M10.5.0/3");
  CHECK(rome.offset_at(utc("2026-03-29T00:59:59Z")) == 3600);
  CHECK(rome.offset_at(utc("2026-03-29T01:00:00Z")) == 7200);
  CHECK(rome.offset_at(utc("2026-10-25T00:59:59Z")) == 7200);
  CHECK(rome.offset_at(utc("2026-10-25T01:00:00Z")) == 3600);
  const TimeZone sydney = zone("AEST-10AEDT,M10.1.0,M4.1.0/3");
  CHECK(sydney.offset_at(utc("2026-01-01T00:00:00Z")) == 39600);
  CHECK(sydney.offset_at(utc("2026-07-01T00:00:00Z")) == 36000);
  CHECK(zone("<+0545>-5:45").offset_at(0) == 20700);
  CHECK(zone("EST5EDT,J60/0,J300/0").offset_at(utc("2028-03-01T06:00:00Z")) == -14400);
  CHECK(zone("EST5EDT,59/0,299/0").offset_at(utc("2028-02-29T06:00:00Z")) == -14400);
}

TEST_CASE("transitions of a zone come before its rule") {
  const auto parsed = TimeZone::parse(test::tzif({{1000, 3600}, {2000, 7200}}, -60, "XXX-1"));
  REQUIRE(parsed.ok());
  CHECK(parsed->offset_at(999) == -60);
  CHECK(parsed->offset_at(1000) == 3600);
  CHECK(parsed->offset_at(1999) == 3600);
  CHECK(parsed->offset_at(2000) == 3600);  // the rule's: "XXX-1"
}

TEST_CASE("a time that clocks show twice has two instants, a skipped one that of the change") {
  const TimeZone rome = zone("CET-1CEST,M3.5.0,M10.5.0/3");
  const auto twice = rome.when(utc("2026-10-25T02:30:00Z"));
  CHECK(twice.first == utc("2026-10-25T00:30:00Z"));
  CHECK(twice.last == utc("2026-10-25T01:30:00Z"));
  const auto skipped = rome.when(utc("2026-03-29T02:30:00Z"));
  CHECK(skipped.skipped);
  CHECK(skipped.first == utc("2026-03-29T01:00:00Z"));
  const auto plain = rome.when(utc("2026-07-01T12:00:00Z"));
  CHECK(plain.first == utc("2026-07-01T10:00:00Z"));
  CHECK(plain.last == plain.first);
}

TEST_CASE("a file that is no time zone is refused, cut off anywhere") {
  const std::string good = test::tzif({{1000, 3600}}, 0, "CET-1CEST,M3.5.0,M10.5.0/3");
  REQUIRE(TimeZone::parse(good).ok());
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK_FALSE(TimeZone::parse(good.substr(0, size)).ok());
  }
  for (const char* posix :
       {"C", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-999", "CET-1CEST,M13.5.0,M1.1.0",
        "CET-1CEST,M3.5.7,M1.1.0", "CET-1CEST,M3.5.0,M10.5.0/3,x"}) {
    INFO(posix);
    CHECK_FALSE(TimeZone::parse(test::tzif({}, 0, posix)).ok());
  }
  CHECK_FALSE(TimeZone::parse(test::tzif({{1000, 999999}}, 0, "")).ok());
  CHECK_FALSE(TimeZone::load("../../etc/passwd").ok());
  CHECK(TimeZone::load("Mars/Olympus").error().is_not_found());
}

TEST_CASE("the variable TZ may hold a POSIX text") {
  const auto rome = TimeZone::from_variable("CET-1CEST,M3.5.0,M10.5.0/3");
  REQUIRE(rome.ok());
  CHECK(rome->offset_at(utc("2026-01-01T00:00:00Z")) == 3600);
  CHECK(rome->offset_at(utc("2026-07-01T00:00:00Z")) == 7200);
  CHECK(TimeZone::from_variable("UTC0")->offset_at(0) == 0);
  CHECK(TimeZone::from_variable("<-03>3")->offset_at(0) == -10800);
  for (const char* utc_too : {"", ":", "UTC", ":UTC"}) {
    INFO(utc_too);
    CHECK(TimeZone::from_variable(utc_too)->offset_at(0) == 0);
  }
}

TEST_CASE("the variable TZ may hold the path of a zone") {
  std::string folder = std::filesystem::temp_directory_path().string() + "/kw-zone-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/zone";
  const std::string tzif = test::tzif({{1000, 3600}}, 0, "CET-1");
  REQUIRE(base::write_file_atomic(path, tzif, 0600).ok());
  const auto plain = TimeZone::from_variable(path);
  const auto colon = TimeZone::from_variable(":" + path);
  std::filesystem::remove_all(folder);
  REQUIRE(plain.ok());
  REQUIRE(colon.ok());
  CHECK(plain->offset_at(999) == 0);
  CHECK(plain->offset_at(2000) == 3600);
  CHECK(colon->offset_at(2000) == 3600);
}

TEST_CASE("a zone of the variable TZ that cannot be had is named, and that it comes from there") {
  // After a colon comes no POSIX text; a summer time is of no use without its begin and end.
  for (const char* text : {"Mars/Olympus", "/no/such/zone", ":UTC0x", "../../etc/passwd",
                           "XST-1XDT", "XST-99", "XST-1XDT,M13.1.0,M1.1.0"}) {
    const auto zone = TimeZone::from_variable(text);
    INFO(text);
    REQUIRE_FALSE(zone.ok());
    const std::string words = zone.error().render();
    CHECK(words.starts_with(std::string("time zone \"") + text + "\" from the variable TZ: "));
  }
  CHECK(TimeZone::from_variable("\x1b[2J").error().render().find('\x1b') == std::string::npos);
}
