#include "hooks/rule_cron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/number_text.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {

namespace {

struct Field {
  std::string_view name;
  int min;
  int max;
  std::vector<std::string> words;  // words[0] stands for `min`
};

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {"minute", 0, 59, {}},
      {"hour", 0, 23, {}},
      {"day of month", 1, 31, {}},
      {"month",
       1,
       12,
       {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
      // 7 is Sunday too.
      {"day of week", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};
  return kFields;
}

std::optional<int> parse_number(std::string_view text) {
  const auto value = base::read_number<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<int> parse_point(const Field& field, std::string_view text) {
  const auto word = std::find(field.words.begin(), field.words.end(), base::to_lower(text));
  if (word != field.words.end()) return field.min + static_cast<int>(word - field.words.begin());
  const auto value = parse_number(text);
  if (!value || *value < field.min || *value > field.max) return std::nullopt;
  return value;
}

struct Range {
  int from = 0;
  int to = 0;
  int step = 1;
};

// "*", "5", "1-5", each with "/STEP".
std::optional<Range> parse_range(const Field& field, std::string_view text) {
  Range out;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto step = parse_number(text.substr(slash + 1));
    if (!step || *step == 0) return std::nullopt;
    // One beyond the field leaves the first value alone, as with other crons; and none overflows.
    out.step = std::min(*step, field.max + 1);
    text = text.substr(0, slash);
  }
  if (text == "*") {
    out.from = field.min;
    out.to = field.max;
    return out;
  }
  const std::size_t dash = text.find('-');
  const auto from = parse_point(field, text.substr(0, dash));
  if (!from) return std::nullopt;
  out.from = *from;
  if (dash != std::string_view::npos) {
    const auto to = parse_point(field, text.substr(dash + 1));
    if (!to || *from > *to) return std::nullopt;
    out.to = *to;
  } else {
    // "5/10" goes on to the end of the field.
    out.to = slash == std::string_view::npos ? *from : field.max;
  }
  return out;
}

struct Expression {
  std::optional<std::string> zone;
  std::vector<std::string> parts;
  std::string wrong;
};

Expression take_apart(std::string_view text) {
  Expression out;
  out.parts = base::split_at_blanks(text);
  if (!out.parts.empty() &&
      (out.parts[0].starts_with("TZ=") || out.parts[0].starts_with("CRON_TZ="))) {
    out.zone = out.parts[0].substr(out.parts[0].find('=') + 1);
    if (out.zone->empty()) {
      out.wrong = "the time zone is missing";
      return out;
    }
    if (out.zone->find("..") != std::string::npos) {
      out.wrong = fmt::format("time zone {}: no time zone has such a name",
                              base::escape_for_terminal(out.zone->substr(0, 100)));
      return out;
    }
    out.parts.erase(out.parts.begin());
  }
  if (out.parts.size() != fields().size()) {
    out.wrong =
        fmt::format("must have 5 fields (minute hour day-of-month month day-of-week), not {}",
                    out.parts.size());
  }
  return out;
}

// The values of one field; on failure `wrong` says what is not valid.
std::vector<int> values_of(const Field& field, const std::string& part, std::string& wrong) {
  std::vector<int> out;
  for (const std::string& text : base::split(part, ',')) {
    const auto range = parse_range(field, text);
    if (!range) {
      wrong = fmt::format("\"{}\" is not valid as {} ({} to {})",
                          base::escape_for_terminal(text.substr(0, 40)), field.name, field.min,
                          field.max);
      return {};
    }
    for (int value = range->from; value <= range->to; value += range->step) out.push_back(value);
  }
  return out;
}

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDay = 86400;
// 29 February on one weekday may be 40 years away, over a century without leap day.
constexpr int kHorizon = 41 * 366;
// Clocks are set back by less than this.
constexpr std::int64_t kSetBack = 3 * 3600;

std::int64_t floor_to(std::int64_t value, std::int64_t unit) {
  return value - ((value % unit) + unit) % unit;
}

}  // namespace

std::string check_cron(std::string_view text) {
  Expression expression = take_apart(text);
  for (std::size_t i = 0; expression.wrong.empty() && i < expression.parts.size(); ++i) {
    values_of(fields()[i], expression.parts[i], expression.wrong);
  }
  return expression.wrong;
}

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
  const Expression expression = take_apart(text);
  auto zone = base::TimeZone::load(expression.zone.value_or(""));
  if (!zone.ok()) {
    return std::move(zone).error().with_context(expression.zone ? "time zone " + *expression.zone
                                                                : "the machine's zone");
  }
  return parse(text, *std::move(zone));
}

Result<CronSchedule> CronSchedule::parse(std::string_view text, base::TimeZone zone) {
  Expression expression = take_apart(text);
  std::vector<std::vector<int>> values;
  for (std::size_t i = 0; expression.wrong.empty() && i < expression.parts.size(); ++i) {
    values.push_back(values_of(fields()[i], expression.parts[i], expression.wrong));
  }
  if (!expression.wrong.empty()) return Error(ErrorKind::invalid, expression.wrong);
  CronSchedule out;
  out.zone_ = std::move(zone);
  const auto set = [](auto& bits, const std::vector<int>& numbers) {
    for (const int number : numbers) bits.set(static_cast<std::size_t>(number));
  };
  set(out.minutes_, values[0]);
  set(out.hours_, values[1]);
  set(out.days_, values[2]);
  set(out.months_, values[3]);
  for (const int day : values[4]) out.weekdays_.set(static_cast<std::size_t>(day % 7));
  out.any_day_ = expression.parts[2].starts_with('*');
  out.any_weekday_ = expression.parts[4].starts_with('*');
  return out;
}

// As cron has always done it: where both day fields are given, either is enough.
bool CronSchedule::is_day(std::int64_t days) const {
  const base::Date date = base::date_of(days);
  if (!months_.test(static_cast<std::size_t>(date.month))) return false;
  const bool day = days_.test(static_cast<std::size_t>(date.day));
  const bool weekday = weekdays_.test(static_cast<std::size_t>(base::weekday_of(days)));
  return any_day_ || any_weekday_ ? day && weekday : day || weekday;
}

std::optional<std::int64_t> CronSchedule::next_of_day(std::int64_t days, std::int64_t from,
                                                      std::int64_t after, Twice twice) const {
  for (std::size_t hour = 0; hour < hours_.size(); ++hour) {
    if (!hours_.test(hour)) continue;
    for (std::size_t minute = 0; minute < minutes_.size(); ++minute) {
      const std::int64_t local =
          days * kDay +
          (static_cast<std::int64_t>(hour) * 60 + static_cast<std::int64_t>(minute)) * kMinute;
      if (!minutes_.test(minute) || local < from) continue;
      const auto when = zone_.when(local);
      if (when.skipped && is_of_every_hour()) continue;
      const std::int64_t at = twice == Twice::first ? when.first : when.last;
      if (at > after) return at;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> CronSchedule::next(std::int64_t after, Twice twice) const {
  const std::int64_t from = floor_to(after + zone_.offset_at(after), kMinute) - kSetBack;
  const std::int64_t first = floor_to(from, kDay) / kDay;
  for (std::int64_t days = first; days < first + kHorizon; ++days) {
    if (!is_day(days)) continue;
    if (const auto at = next_of_day(days, from, after, twice)) return at;
  }
  return std::nullopt;
}

std::optional<WallTime> CronSchedule::next(WallTime after) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(after).time_since_epoch().count();
  auto at = next(seconds, Twice::first);
  if (at && is_of_every_hour()) {
    if (const auto second = next(seconds, Twice::second)) at = std::min(*at, *second);
  }
  if (!at) return std::nullopt;
  return WallTime{std::chrono::seconds{*at}};
}

}  // namespace kubewatch::hooks
