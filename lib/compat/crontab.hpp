// Schedules as shell-operator's cron library writes them: 5 fields, 6 with seconds first, "?" for
// any day, "@hourly" and its like, "@every 90s"; and which tick of one is due. The five fields are
// hooks/rule_cron's. Pure but for the time zone.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "hooks/rule_cron.hpp"
#include "hooks/tick_clock.hpp"

namespace kubewatch::compat {

class Crontab {
 public:
  // Errors: invalid, in words of what is wrong; not_found (zone).
  static Result<Crontab> parse(std::string_view text);
  // The first time after `after`; absent when there is none (30 February).
  std::optional<WallTime> next(WallTime after) const;
  bool is_of_every_hour() const { return !minutes_ || minutes_->is_of_every_hour(); }

 private:
  std::optional<hooks::CronSchedule> minutes_;  // absent: every so often
  std::bitset<60> seconds_{1};                  // of such a minute
  Duration every_{0};
};

using CrontabClock = hooks::TickClock<Crontab>;

}  // namespace kubewatch::compat
