// Five-field cron expressions ("*/5 * * * *", "TZ=Europe/Rome 0 3 * * mon"): checks them and
// computes when they are due. Pure but for the zone, which parse() reads.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "base/time_zone.hpp"
#include "hooks/tick_clock.hpp"

namespace kubewatch::hooks {

// "" when valid, else what is wrong with it.
std::string check_cron(std::string_view text);

class CronSchedule {
 public:
  // Without TZ= in the machine's zone. Errors: invalid, in check_cron's words; not_found (zone).
  static Result<CronSchedule> parse(std::string_view text);
  // With a zone of the caller's in place of TZ=.
  static Result<CronSchedule> parse(std::string_view text, base::TimeZone zone);

  // The first time after `after`; absent when there is none (30 February). Where clocks are set
  // forward, a skipped time runs at the moment of the change, and one of every hour does not; where
  // they are set back, a time that comes twice runs the first time, and one of every hour runs
  // both times.
  std::optional<WallTime> next(WallTime after) const;
  bool is_of_every_hour() const { return hours_.all(); }
  // It was due after `last`, up to `now`.
  bool missed(WallTime last, WallTime now) const {
    const auto first = next(last);
    return first && *first <= now;
  }

 private:
  enum class Twice { first, second };
  bool is_day(std::int64_t days) const;
  std::optional<std::int64_t> next(std::int64_t after, Twice twice) const;
  std::optional<std::int64_t> next_of_day(std::int64_t days, std::int64_t from, std::int64_t after,
                                          Twice twice) const;

  base::TimeZone zone_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = false;  // the field begins with *: the other of both decides
  bool any_weekday_ = false;
};

using ScheduleClock = TickClock<CronSchedule>;

}  // namespace kubewatch::hooks
