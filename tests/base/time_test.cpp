#include "base/time.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::base;
using namespace std::chrono_literals;

TEST_CASE("RFC 3339 times are read and written in UTC") {
  struct Case {
    const char* text;
    const char* seconds;
    const char* micros;
  };
  const Case cases[] = {
      {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"},
      {"2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z"},
      {"2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456Z"},
      {"2026-01-02T03:04:05.5+02:30", "2026-01-02T00:34:05Z", "2026-01-02T00:34:05.500000Z"},
      {"2025-12-31T23:30:00-01:00", "2026-01-01T00:30:00Z", "2026-01-01T00:30:00.000000Z"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
      {"1969-12-31T23:59:59.75Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.750000Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
      {"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000Z"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto at = parse_rfc3339(c.text);
    REQUIRE(at.ok());
    CHECK(format_rfc3339(*at) == c.seconds);
    CHECK(format_rfc3339_micro(*at) == c.micros);
  }
  CHECK(format_rfc3339(WallTime{}) == "1970-01-01T00:00:00Z");
}

TEST_CASE("what is no RFC 3339 time is refused") {
  for (const char* text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z",
        "2026-02-30T03:04:05Z", "2025-02-29T03:04:05Z", "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+0200", "2026-01-02T03:04:05+25:00", "2026-01-02T03:04:05Zx",
        "26-01-02T03:04:05Z", "2026-1-02T03:04:05Z", "2026-00-02T03:04:05Z", "x"}) {
    INFO(text);
    const auto at = parse_rfc3339(text);
    REQUIRE_FALSE(at.ok());
    CHECK(at.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("durations follow Go's syntax") {
  const std::pair<const char*, Duration> cases[] = {{"0", 0ms},
                                                    {"0s", 0ms},
                                                    {"500ms", 500ms},
                                                    {"1.5s", 1500ms},
                                                    {"1h30m", 90min},
                                                    {"1h30m0s", 90min},
                                                    {"+5s", 5s},
                                                    {"1.5h", 90min},
                                                    {".5s", 500ms},
                                                    {"1.s", 1s},
                                                    {"1000us", 1ms},
                                                    {"1000\xc2\xb5s", 1ms},
                                                    {"1000\xce\xbcs", 1ms},
                                                    {"2000000ns", 2ms},
                                                    {"1m1m", 2min},
                                                    {"24h", 24h},
                                                    {"0.1s", 100ms},
                                                    {"0.001s", 1ms},
                                                    {"2.345s", 2345ms}};
  for (const auto& [text, wanted] : cases) {
    INFO(text);
    const auto duration = parse_duration(text);
    if (!duration.ok()) FAIL(duration.error().render());
    CHECK(*duration == wanted);
  }
}

TEST_CASE("what is no duration is refused") {
  for (const char* text :
       {"",      "5",       "00",           "-5s",      "-0s",
        "s",     "1",       "1x",           "1d",       "1h ",
        " 1h",   "1hm",     ".s",           "1..5s",    "1ns",
        "1.5ms", "0.0001s", "99999999999h", "3000000h", "1h99999999999999999999s",
        "+",     "1e3s",    "5 s"}) {
    INFO(text);
    const auto duration = parse_duration(text);
    REQUIRE_FALSE(duration.ok());
    CHECK(duration.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("durations are written in their shortest exact form and read back") {
  const std::pair<Duration, const char*> cases[] = {{0ms, "0s"},
                                                    {1ms, "1ms"},
                                                    {999ms, "999ms"},
                                                    {1s, "1s"},
                                                    {1500ms, "1.5s"},
                                                    {90s, "1m30s"},
                                                    {60s, "1m"},
                                                    {1h, "1h"},
                                                    {90min, "1h30m"},
                                                    {1h + 1s, "1h1s"},
                                                    {1h + 1ms, "1h0.001s"},
                                                    {25h, "25h"},
                                                    {61s + 20ms, "1m1.02s"}};
  for (const auto& [duration, text] : cases) {
    CHECK(format_duration(duration) == text);
    CHECK(*parse_duration(text) == duration);
  }
  CHECK(format_duration(-90s) == "-1m30s");
  CHECK(format_duration(-5ms) == "-5ms");
}

TEST_CASE("ages look like kubectl's") {
  const std::pair<std::int64_t, const char*> cases[] = {{-2, "<invalid>"},
                                                        {-1, "0s"},
                                                        {0, "0s"},
                                                        {5, "5s"},
                                                        {119, "119s"},
                                                        {120, "2m"},
                                                        {200, "3m20s"},
                                                        {599, "9m59s"},
                                                        {600, "10m"},
                                                        {10799, "179m"},
                                                        {10800, "3h"},
                                                        {3 * 3600 + 60, "3h1m"},
                                                        {8 * 3600, "8h"},
                                                        {47 * 3600, "47h"},
                                                        {48 * 3600, "2d"},
                                                        {49 * 3600, "2d1h"},
                                                        {8 * 86400, "8d"},
                                                        {400 * 86400, "400d"},
                                                        {730LL * 86400, "2y"},
                                                        {731LL * 86400, "2y1d"},
                                                        {3650LL * 86400, "10y"}};
  for (const auto& [seconds, text] : cases) {
    INFO(seconds);
    CHECK(format_age(std::chrono::seconds(seconds)) == text);
  }
}
