#include "base/time.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "base/ascii.hpp"

namespace kubewatch::base {

namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::seconds;

struct Parts {
  std::chrono::year_month_day date;
  std::int64_t second_of_day = 0;
  std::int64_t micros = 0;
};

Parts split_time(WallTime at) {
  const auto day = std::chrono::floor<days>(at);
  const auto second = std::chrono::floor<seconds>(at - day);
  return {std::chrono::year_month_day(day), second.count(),
          std::chrono::duration_cast<microseconds>(at - day - second).count()};
}

std::string date_and_time(const Parts& p) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(p.date.year()),
                     static_cast<unsigned>(p.date.month()), static_cast<unsigned>(p.date.day()),
                     p.second_of_day / 3600, p.second_of_day / 60 % 60, p.second_of_day % 60);
}

Error bad_time(std::string_view text) {
  return Error(ErrorKind::invalid,
               fmt::format("\"{}\" is not an RFC 3339 time such as 2026-01-02T03:04:05Z",
                           text.substr(0, 64)));
}

// Exactly `count` digits at the front of `text`, removed from it.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456789" as microseconds; more digits than six are cut off.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return 0;
  std::int64_t micros = 0;
  std::size_t digits = 0;
  while (!text.empty() && is_digit(text.front())) {
    if (digits < 6) micros = micros * 10 + (text.front() - '0');
    ++digits;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 6; ++i) micros *= 10;
  return micros;
}

// "Z" or "+hh:mm" as seconds east of UTC; must be the rest of the text.
std::optional<int> take_zone(std::string_view& text) {
  if (text == "Z") return 0;
  const bool west = !text.empty() && text.front() == '-';
  if (!take(text, west ? '-' : '+')) return std::nullopt;
  const auto hours = take_digits(text, 2);
  const bool colon = take(text, ':');
  const auto minutes = take_digits(text, 2);
  if (!hours || !colon || !minutes || !text.empty() || *hours > 23 || *minutes > 59) {
    return std::nullopt;
  }
  const int offset = *hours * 3600 + *minutes * 60;
  return west ? -offset : offset;
}

struct Unit {
  std::string_view name;
  std::int64_t nanos;
};

// Longest names first where one is a prefix of another.
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"\xc2\xb5s", 1'000},  {"\xce\xbcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};

const Unit* take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    if (text.starts_with(unit.name)) {
      text.remove_prefix(unit.name.size());
      return &unit;
    }
  }
  return nullptr;
}

// "1.5h" at the front of `text`, in nanoseconds. Fails on overflow.
std::optional<std::int64_t> take_term(std::string_view& text) {
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  std::int64_t scale = 1;
  bool digits = false;
  bool after_point = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (is_digit(c)) {
      digits = true;
      if (!after_point) {
        if (whole > 10'000'000'000'000'000) return std::nullopt;
        whole = whole * 10 + (c - '0');
      } else if (scale < 1'000'000'000'000) {
        fraction = fraction * 10 + (c - '0');
        scale *= 10;
      }
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  const Unit* unit = digits ? take_unit(text) : nullptr;
  if (unit == nullptr) return std::nullopt;
  if (whole > std::numeric_limits<std::int64_t>::max() / unit->nanos) return std::nullopt;
  const long double part =
      static_cast<long double>(fraction) * static_cast<long double>(unit->nanos) / scale;
  std::int64_t total = 0;
  if (__builtin_add_overflow(whole * unit->nanos, static_cast<std::int64_t>(part), &total)) {
    return std::nullopt;
  }
  return total;
}

Error bad_duration(std::string_view text, std::string_view why) {
  return Error(ErrorKind::invalid,
               fmt::format("\"{}\" is not a duration{}; write it like 500ms, 30s or 1h30m",
                           text.substr(0, 64), why));
}

std::string with_optional(std::int64_t major, char unit, std::int64_t minor, char small) {
  if (minor == 0) return fmt::format("{}{}", major, unit);
  return fmt::format("{}{}{}{}", major, unit, minor, small);
}

}  // namespace

std::string format_rfc3339(WallTime at) {
  return date_and_time(split_time(at)) + "Z";
}

std::string format_rfc3339_micro(WallTime at) {
  const Parts parts = split_time(at);
  return fmt::format("{}.{:06}Z", date_and_time(parts), parts.micros);
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  std::string_view rest = text;
  int numbers[6] = {};
  constexpr char kAfter[6] = {'-', '-', 'T', ':', ':', '\0'};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto value = take_digits(rest, i == 0 ? 4 : 2);
    if (!value || (kAfter[i] != '\0' && !take(rest, kAfter[i]))) return bad_time(text);
    numbers[i] = *value;
  }
  const auto micros = take_fraction(rest);
  const auto zone = micros ? take_zone(rest) : std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(numbers[0]),
                                         std::chrono::month(static_cast<unsigned>(numbers[1])),
                                         std::chrono::day(static_cast<unsigned>(numbers[2]))};
  if (!zone || !date.ok() || numbers[3] > 23 || numbers[4] > 59 || numbers[5] > 59) {
    return bad_time(text);
  }
  const auto time_of_day =
      seconds(numbers[3] * 3600 + numbers[4] * 60 + numbers[5] - *zone) + microseconds(*micros);
  return WallTime(std::chrono::sys_days(date).time_since_epoch() + time_of_day);
}

Result<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration(0);
  if (text.starts_with('-')) return bad_duration(text, " (it must not be negative)");
  std::string_view rest = text;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty()) return bad_duration(text, "");
  if (rest.find_first_not_of("0123456789") == std::string_view::npos) {
    return bad_duration(text, " (the unit is missing)");
  }
  std::int64_t nanos = 0;
  while (!rest.empty()) {
    const auto term = take_term(rest);
    if (!term) return bad_duration(text, "");
    if (__builtin_add_overflow(nanos, *term, &nanos)) return bad_duration(text, " (too long)");
  }
  if (nanos % 1'000'000 != 0) {
    return bad_duration(text, " of whole milliseconds");
  }
  return Duration(nanos / 1'000'000);
}

std::string format_duration(Duration duration) {
  std::int64_t left = duration.count();
  if (left == 0) return "0s";
  std::string out;
  if (left < 0) {
    out = "-";
    left = -left;
  }
  if (left < 1000) return fmt::format("{}{}ms", out, left);
  const std::int64_t hours = left / 3'600'000;
  const std::int64_t minutes = left / 60'000 % 60;
  const std::int64_t second = left / 1000 % 60;
  const std::int64_t millis = left % 1000;
  if (hours != 0) out += fmt::format("{}h", hours);
  if (minutes != 0) out += fmt::format("{}m", minutes);
  if (millis != 0) {
    std::string fraction = fmt::format("{:03}", millis);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += fmt::format("{}.{}s", second, fraction);
  } else if (second != 0) {
    out += fmt::format("{}s", second);
  }
  return out;
}

std::string format_age(std::chrono::seconds age) {
  const std::int64_t second = age.count();
  if (second < -1) return "<invalid>";
  if (second < 0) return "0s";
  if (second < 120) return fmt::format("{}s", second);
  const std::int64_t minutes = second / 60;
  if (minutes < 10) return with_optional(minutes, 'm', second % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return with_optional(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t day = hours / 24;
  if (day < 8) return with_optional(day, 'd', hours % 24, 'h');
  if (day < 730) return fmt::format("{}d", day);
  if (day < 365 * 8) return with_optional(day / 365, 'y', day % 365, 'd');
  return fmt::format("{}y", day / 365);
}

}  // namespace kubewatch::base
