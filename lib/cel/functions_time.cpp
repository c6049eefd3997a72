// Parts of timestamps and durations.
#include <chrono>
#include <map>

#include "base/ascii.hpp"
#include "base/time_zone.hpp"
#include "cel/functions.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

constexpr std::int64_t kDay = 86400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

// "Europe/Rome" or "+02:00" in seconds east of UTC at that time.
Result<std::int64_t> offset_of(std::string_view zone, std::int64_t at) {
  if (zone.empty() || zone == "UTC") return std::int64_t{0};
  const auto colon = zone.find(':');
  if (colon == std::string_view::npos) {
    static std::map<std::string, base::TimeZone, std::less<>> known;
    auto found = known.find(zone);
    if (found == known.end()) {
      if (zone.find("..") != std::string_view::npos || zone[0] == '/') {
        return Error(ErrorKind::not_found, "unknown time zone " + std::string(zone));
      }
      auto loaded = base::TimeZone::load(std::string(zone));
      if (!loaded.ok())
        return Error(ErrorKind::not_found, "unknown time zone " + std::string(zone));
      found = known.emplace(std::string(zone), std::move(*loaded)).first;
    }
    return found->second.offset_at(at);
  }
  const auto number = [](std::string_view text) {
    std::int64_t out = 0;
    for (const char c : text) out = base::is_digit(c) && out < 1000 ? out * 10 + (c - '0') : 1000;
    return text.empty() ? 1000 : out;
  };
  const bool west = zone[0] == '-';
  const auto hours =
      number(zone.substr(west || zone[0] == '+' ? 1 : 0, colon - (west || zone[0] == '+' ? 1 : 0)));
  const auto minutes = number(zone.substr(colon + 1));
  if (hours >= 1000 || minutes >= 1000) {
    return Error(ErrorKind::invalid, "unknown time zone " + std::string(zone));
  }
  return (hours * 3600 + minutes * 60) * (west ? -1 : 1);
}

using Part = std::int64_t (*)(std::int64_t local, std::uint32_t nanos);

base::Date date(std::int64_t local) {
  return base::date_of(floor_div(local, kDay));
}
std::int64_t of_day(std::int64_t local) {
  return local - floor_div(local, kDay) * kDay;
}

std::int64_t year(std::int64_t local, std::uint32_t /*nanos*/) {
  return date(local).year;
}
std::int64_t month(std::int64_t local, std::uint32_t /*nanos*/) {
  return date(local).month - 1;
}
std::int64_t day_of_month(std::int64_t local, std::uint32_t /*nanos*/) {
  return date(local).day - 1;
}
std::int64_t day(std::int64_t local, std::uint32_t /*nanos*/) {
  return date(local).day;
}
std::int64_t day_of_year(std::int64_t local, std::uint32_t /*nanos*/) {
  return floor_div(local, kDay) - base::days_of(date(local).year, 1, 1);
}
std::int64_t day_of_week(std::int64_t local, std::uint32_t /*nanos*/) {
  return base::weekday_of(floor_div(local, kDay));
}
std::int64_t hours(std::int64_t local, std::uint32_t /*nanos*/) {
  return of_day(local) / 3600;
}
std::int64_t minutes(std::int64_t local, std::uint32_t /*nanos*/) {
  return of_day(local) / 60 % 60;
}
std::int64_t seconds(std::int64_t local, std::uint32_t /*nanos*/) {
  return of_day(local) % 60;
}
std::int64_t millis(std::int64_t /*local*/, std::uint32_t nanos) {
  return nanos / 1000000;
}

// A part of a timestamp; of a duration the whole of it in that unit, or 0 when it has no such part.
template <Part kPart, std::int64_t kUnit>
Value part(Arguments a, const Prepared& /*prepared*/) {
  if (kUnit != 0 && a.size() == 1 && a[0].is(Kind::duration)) {
    return Value::integer(a[0].as_int() / (kUnit == 0 ? 1 : kUnit));
  }
  if (!a[0].is(Kind::timestamp) || (a.size() == 2 && !a[1].is(Kind::string))) {
    return Value::no_such_overload();
  }
  std::int64_t offset = 0;
  if (a.size() == 2) {
    const auto found = offset_of(a[1].text(), a[0].as_int());
    if (!found.ok()) return Value::error(found.error().message());
    offset = *found;
  }
  return Value::integer(kPart(a[0].as_int() + offset, a[0].nanos()));
}

constexpr std::int64_t kSecond = 1000000000;

constexpr NamedImplementation kTable[] = {
    {"getFullYear", part<year, 0>},
    {"getMonth", part<month, 0>},
    {"getDayOfMonth", part<day_of_month, 0>},
    {"getDate", part<day, 0>},
    {"getDayOfYear", part<day_of_year, 0>},
    {"getDayOfWeek", part<day_of_week, 0>},
    {"getHours", part<hours, 3600 * kSecond>},
    {"getMinutes", part<minutes, 60 * kSecond>},
    {"getSeconds", part<seconds, kSecond>},
    {"getMilliseconds", part<millis, kSecond / 1000>},
};

}  // namespace

std::span<const NamedImplementation> time_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
