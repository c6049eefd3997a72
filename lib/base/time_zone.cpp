// TZif and the POSIX TZ text at its end.
#include "base/time_zone.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "base/ascii.hpp"
#include "base/cut_text.hpp"
#include "base/files.hpp"
#include "base/strings.hpp"

namespace kubewatch::base {

// "CET-1CEST,M3.5.0,M10.5.0/3"
class PosixZoneReader {
 public:
  explicit PosixZoneReader(std::string_view text) : text_(text) {}

  std::optional<TimeZone::Rule> read() {
    TimeZone::Rule rule;
    std::int64_t west = 0;
    if (!name() || !clock(west)) return std::nullopt;
    rule.standard = -west;
    if (text_.empty()) return rule;
    if (!name()) return std::nullopt;
    rule.summer = rule.standard + 3600;
    if (!text_.empty() && text_.front() != ',') {
      if (!clock(west)) return std::nullopt;
      rule.summer = -west;
    }
    rule.start.emplace();
    const bool good = change(*rule.start) && change(rule.end) && text_.empty();
    return good ? std::optional(rule) : std::nullopt;
  }

 private:
  bool skip(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool name() {
    const bool quoted = skip('<');
    std::size_t length = 0;
    while (length < text_.size()) {
      const char c = text_[length];
      if (quoted ? c == '>' : !is_letter(c)) break;
      ++length;
    }
    text_.remove_prefix(length);
    return length > 0 && (!quoted || skip('>'));
  }

  bool number(std::int64_t& out, std::int64_t max) {
    std::size_t length = 0;
    out = 0;
    while (length < text_.size() && length < 6 && is_digit(text_[length])) {
      out = out * 10 + (text_[length++] - '0');
    }
    text_.remove_prefix(length);
    return length > 0 && out <= max;
  }

  bool small(int& out, int min, int max) {
    std::int64_t value = 0;
    if (!number(value, max) || value < min) return false;
    out = static_cast<int>(value);
    return true;
  }

  // [+-]HH[:MM[:SS]]
  bool clock(std::int64_t& out) {
    const bool minus = skip('-');
    if (!minus) skip('+');
    std::int64_t hours = 0;
    std::int64_t minutes = 0;
    std::int64_t seconds = 0;
    if (!number(hours, 167)) return false;
    if (skip(':') && !number(minutes, 59)) return false;
    if (skip(':') && !number(seconds, 59)) return false;
    out = (hours * 60 + minutes) * 60 + seconds;
    if (minus) out = -out;
    return true;
  }

  bool change(ClockChange& out) {
    if (!skip(',')) return false;
    bool good = false;
    if (skip('M')) {
      out.day = ClockChange::Day::weekday;
      good = small(out.month, 1, 12) && skip('.') && small(out.week, 1, 5) && skip('.') &&
             small(out.number, 0, 6);
    } else if (skip('J')) {
      out.day = ClockChange::Day::julian;
      good = small(out.number, 1, 365);
    } else {
      out.day = ClockChange::Day::zero_based;
      good = small(out.number, 0, 365);
    }
    return good && (!skip('/') || clock(out.seconds));
  }

  std::string_view text_;
};

namespace {

constexpr std::size_t kMaxFile = 1U << 20U;
constexpr std::size_t kHeader = 44;
constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kMaxOffset = 26 * 3600;

Error broken() {
  return {ErrorKind::invalid, "not a time zone file"};
}

std::int64_t big_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = (static_cast<unsigned char>(bytes[at]) & 0x80U) != 0 ? ~0ULL : 0ULL;
  for (std::size_t i = 0; i < width; ++i) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  }
  return static_cast<std::int64_t>(value);
}

// The six counts of a header, in the order of the file.
struct Counts {
  std::size_t isut = 0, isstd = 0, leap = 0, time = 0, type = 0, chars = 0;
  std::size_t bytes(std::size_t width) const {
    return time * width + time + type * 6 + chars + leap * (width + 4) + isstd + isut;
  }
};

std::optional<Counts> read_header(std::string_view bytes, std::size_t at) {
  if (bytes.size() < at + kHeader || bytes.substr(at, 4) != "TZif") return std::nullopt;
  std::array<std::size_t, 6> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = big_endian(bytes, at + 20 + 4 * i, 4);
    if (value < 0 || value > static_cast<std::int64_t>(kMaxFile)) return std::nullopt;
    values[i] = static_cast<std::size_t>(value);
  }
  return Counts{values[0], values[1], values[2], values[3], values[4], values[5]};
}

bool is_leap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

// The day of a change in a year, as days since 1970.
std::int64_t day_of(const ClockChange& change, int year) {
  const std::int64_t january = days_of(year, 1, 1);
  switch (change.day) {
    case ClockChange::Day::zero_based: return january + change.number;
    case ClockChange::Day::julian:
      return january + change.number - 1 + (is_leap(year) && change.number >= 60 ? 1 : 0);
    case ClockChange::Day::weekday: break;
  }
  const std::int64_t first = days_of(year, change.month, 1);
  const int ahead = (change.number - weekday_of(first) + 7) % 7;
  std::int64_t day = first + ahead + 7LL * (change.week - 1);
  const std::int64_t next =
      change.month == 12 ? days_of(year + 1, 1, 1) : days_of(year, change.month + 1, 1);
  while (day >= next) day -= 7;
  return day;
}

bool safe_zone_name(const std::string& name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '+' || c == '/';
  });
  return letters && !name.empty() && name.size() < 100 && name.front() != '/';
}

constexpr const char* kLocalTime = "/etc/localtime";

bool is_wild(std::int64_t offset) {
  return offset < -kMaxOffset || offset > kMaxOffset;
}

// Absent: it is none that is known here.
auto posix_rule(std::string_view text) {
  auto rule = PosixZoneReader(text).read();
  if (rule && (is_wild(rule->standard) || is_wild(rule->summer))) rule.reset();
  return rule;
}

// Without a file the machine's zone is UTC.
Result<TimeZone> local_time() {
  auto bytes = read_file(kLocalTime, kMaxFile);
  if (!bytes.ok()) return TimeZone();
  auto zone = TimeZone::parse(*bytes);
  if (!zone.ok()) return std::move(zone).error().with_context(kLocalTime);
  return zone;
}

Result<TimeZone> machine_zone() {
  const char* tz = std::getenv("TZ");
  return tz != nullptr ? TimeZone::from_variable(tz) : local_time();
}

}  // namespace

std::int64_t days_of(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

Date date_of(std::int64_t days) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(days)}}};
  return {int{date.year()}, static_cast<int>(unsigned{date.month()}),
          static_cast<int>(unsigned{date.day()})};
}

int weekday_of(std::int64_t days) {
  return static_cast<int>((days % 7 + 11) % 7);  // 1970-01-01 was a Thursday
}

Result<TimeZone> TimeZone::parse(std::string_view tzif) {
  const auto old = read_header(tzif, 0);
  // The first block has 32 bits only; version 2 and up repeat it with 64.
  if (!old || tzif[4] < '2') return broken();
  const std::size_t start = kHeader + old->bytes(4);
  const auto counts = start > tzif.size() ? std::nullopt : read_header(tzif, start);
  if (!counts || counts->type == 0) return broken();
  std::size_t at = start + kHeader;
  const std::size_t footer = at + counts->bytes(8);
  if (footer > tzif.size()) return broken();
  TimeZone out;
  const std::size_t indexes = at + counts->time * 8;
  const std::size_t types = indexes + counts->time;
  const auto offset_of = [&](std::size_t type) { return big_endian(tzif, types + 6 * type, 4); };
  for (std::size_t i = 0; i < counts->time; ++i) {
    const auto type = static_cast<unsigned char>(tzif[indexes + i]);
    if (type >= counts->type) return broken();
    out.times_.push_back(big_endian(tzif, at + 8 * i, 8));
    out.offsets_.push_back(offset_of(type));
  }
  out.first_offset_ = offset_of(0);
  if (!std::is_sorted(out.times_.begin(), out.times_.end()) || is_wild(out.first_offset_) ||
      std::any_of(out.offsets_.begin(), out.offsets_.end(), is_wild)) {
    return broken();
  }
  const std::string_view rest = tzif.substr(footer);
  const std::size_t end = rest.find('\n', 1);
  if (rest.empty() || rest.front() != '\n' || end == std::string_view::npos) return broken();
  if (end > 1) {
    out.rule_ = posix_rule(rest.substr(1, end - 1));
    if (!out.rule_) return broken();
  }
  return out;
}

Result<TimeZone> TimeZone::load(const std::string& name) {
  if (name.empty()) return machine_zone();
  if (name == "UTC") return TimeZone();
  if (!safe_zone_name(name)) return Error(ErrorKind::not_found, "no time zone has such a name");
  auto bytes = read_file("/usr/share/zoneinfo/" + name, kMaxFile);
  if (!bytes.ok()) {
    return Error(ErrorKind::not_found,
                 "this machine knows no such time zone (its name is one like Europe/Rome; is "
                 "tzdata installed?)");
  }
  return parse(*bytes);
}

Result<TimeZone> TimeZone::from_variable(std::string_view value) {
  const auto refuse = [&](Error error) {
    constexpr std::size_t kShown = 100;
    const std::string shown = escape_for_terminal(cut_text(std::string(value), kShown));
    return std::move(error).with_context("time zone \"" + shown + "\" from the variable TZ");
  };
  const bool only_a_file = value.starts_with(':');
  const std::string text(only_a_file ? value.substr(1) : value);
  if (text.empty()) return TimeZone();
  // Where it is set so that libc need not look for it: the same as no TZ.
  if (text == kLocalTime) return local_time();
  if (text.front() == '/') {
    auto bytes = read_file(text, kMaxFile);
    auto zone = bytes.ok() ? parse(*bytes) : Result<TimeZone>(std::move(bytes).error());
    if (!zone.ok()) return refuse(std::move(zone).error());
    return zone;
  }
  auto named = load(text);
  if (named.ok() || only_a_file) {
    if (!named.ok()) return refuse(std::move(named).error());
    return named;
  }
  TimeZone out;
  out.rule_ = posix_rule(text);
  if (out.rule_) return out;
  // Of a POSIX text there is always an offset.
  const bool meant_as_text = std::any_of(text.begin(), text.end(), is_digit);
  if (!meant_as_text || named.error().kind() != ErrorKind::not_found) {
    return refuse(std::move(named).error());
  }
  return refuse({ErrorKind::invalid,
                 "neither the name of a zone that this machine knows (is tzdata installed?) nor a "
                 "POSIX text like CET-1CEST,M3.5.0,M10.5.0/3, which says when summer time begins "
                 "and ends"});
}

std::int64_t TimeZone::offset_at(std::int64_t utc) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), utc);
  if (next != times_.end() || !rule_) {
    if (next == times_.begin()) return first_offset_;
    return offsets_[static_cast<std::size_t>(next - times_.begin()) - 1];
  }
  if (!rule_->start) return rule_->standard;
  // The year of the standard clock: changes are never so near to its end that it matters.
  const std::int64_t local = utc + rule_->standard;
  const int year = date_of((local - ((local % kDay + kDay) % kDay)) / kDay).year;
  const std::int64_t start =
      day_of(*rule_->start, year) * kDay + rule_->start->seconds - rule_->standard;
  const std::int64_t end = day_of(rule_->end, year) * kDay + rule_->end.seconds - rule_->summer;
  const bool summer = start < end ? utc >= start && utc < end : utc >= start || utc < end;
  return summer ? rule_->summer : rule_->standard;
}

TimeZone::Instants TimeZone::when(std::int64_t local) const {
  // Clocks change at most once within two days.
  const std::int64_t before = offset_at(local - kDay - kMaxOffset);
  const std::int64_t after = offset_at(local + kDay);
  const bool as_before = offset_at(local - before) == before;
  const bool as_after = offset_at(local - after) == after;
  if (as_before && as_after) return {local - before, local - after, false};
  if (as_before) return {local - before, local - before, false};
  if (as_after) return {local - after, local - after, false};
  std::int64_t low = local - std::max(before, after);  // still before the change
  std::int64_t high = local - std::min(before, after);
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (offset_at(middle) == before ? low : high) = middle;
  }
  return {high, high, true};
}

}  // namespace kubewatch::base
