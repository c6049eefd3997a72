// A time zone out of the system's database (TZif files, RFC 8536): what the wall clock shows at an
// instant, and when it shows a time. Pure but for load(). Not for formatting: texts are in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::base {

// A clock change by rule: the part of a POSIX TZ text after each comma, "M3.5.0/2".
struct ClockChange {
  enum class Day { julian, zero_based, weekday } day = Day::weekday;
  int month = 0, week = 0;      // with weekday
  int number = 0;               // the day: 1 to 365 without leap days, 0 to 365, or 0 = Sunday to 6
  std::int64_t seconds = 7200;  // after midnight; may be negative or beyond a day
};

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // Errors: invalid (not TZif, cut off, an impossible rule).
  static Result<TimeZone> parse(std::string_view tzif);
  // "Europe/Rome", read from the system's folder; "" is the machine's zone (TZ, then
  // /etc/localtime, UTC when there is neither). Errors: not_found; invalid.
  static Result<TimeZone> load(const std::string& name);
  // A value of the variable TZ: a name as for load(), an absolute path, or a POSIX text
  // ("CET-1CEST,M3.5.0,M10.5.0/3"); after ':' no POSIX text. A name goes before a text, as in libc.
  // "" is UTC. Errors: not_found; invalid: what it is and that it came from TZ is in them.
  static Result<TimeZone> from_variable(std::string_view value);

  // Seconds east of UTC at `utc` (seconds since 1970).
  std::int64_t offset_at(std::int64_t utc) const;

  // When clocks show `local` (seconds since 1970 as if it were UTC). Twice where they are set
  // back; where they are set forward it is skipped: both are the moment of the change.
  struct Instants {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool skipped = false;
  };
  Instants when(std::int64_t local) const;

 private:
  struct Rule {
    std::int64_t standard = 0;
    std::int64_t summer = 0;
    std::optional<ClockChange> start;  // absent: standard time all year
    ClockChange end;
  };
  friend class PosixZoneReader;

  std::int64_t first_offset_ = 0;  // before the first transition
  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> offsets_;  // from times_[i] on
  std::optional<Rule> rule_;           // after the last transition
};

// Days since 1970-01-01 of a date, and back; proleptic Gregorian.
std::int64_t days_of(int year, int month, int day);
struct Date {
  int year = 1970, month = 1, day = 1;
};
Date date_of(std::int64_t days);
// 0 = Sunday.
int weekday_of(std::int64_t days);

}  // namespace kubewatch::base
