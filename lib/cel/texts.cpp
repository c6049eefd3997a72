// Times and numbers as texts.
#include <array>
#include <charconv>
#include <cmath>

#include "base/ascii.hpp"
#include "base/time_zone.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

namespace {

constexpr std::int64_t kSecond = 1000000000;

std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() >= width ? text : std::string(width - text.size(), '0') + text;
}

// ".5" of 500000000; "" of 0.
std::string fraction(std::int64_t nanos) {
  if (nanos == 0) return "";
  std::string text = "." + padded(nanos, 9);
  while (text.back() == '0') text.pop_back();
  return text;
}

// Reads digits; nothing but digits may stand there.
class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}
  bool number(std::size_t width, int& out) {
    if (text_.size() < at_ + width) return false;
    out = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const char c = text_[at_ + i];
      if (c < '0' || c > '9') return false;
      out = out * 10 + (c - '0');
    }
    at_ += width;
    return true;
  }
  bool literal(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Up to nine digits count.
  bool nanos(std::uint32_t& out) {
    if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9') return false;
    std::uint32_t scale = 100000000;
    for (; at_ < text_.size() && base::is_digit(text_[at_]); ++at_, scale /= 10) {
      out += scale * static_cast<std::uint32_t>(text_[at_] - '0');
    }
    return true;
  }
  bool done() const { return at_ == text_.size(); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

int days_in(int year, int month) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

struct Unit {
  std::string_view name;
  double nanos;
};

std::optional<double> unit_of(std::string_view name, bool words) {
  static constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                                  {"us", 1e3},
                                                  {"µs", 1e3},
                                                  {"μs", 1e3},
                                                  {"ms", 1e6},
                                                  {"s", 1e9},
                                                  {"m", 6e10},
                                                  {"h", 3.6e12}}};
  static constexpr std::array<Unit, 14> kWords = {{{"nano", 1},
                                                   {"micro", 1e3},
                                                   {"milli", 1e6},
                                                   {"sec", 1e9},
                                                   {"second", 1e9},
                                                   {"min", 6e10},
                                                   {"minute", 6e10},
                                                   {"hr", 3.6e12},
                                                   {"hour", 3.6e12},
                                                   {"d", 8.64e13},
                                                   {"day", 8.64e13},
                                                   {"w", 6.048e14},
                                                   {"week", 6.048e14},
                                                   {"wk", 6.048e14}}};
  for (const auto& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  if (!words) return std::nullopt;
  const auto one = name.size() > 2 && name.back() == 's' ? name.substr(0, name.size() - 1) : name;
  for (const auto& unit : kWords) {
    if (unit.name == one) return unit.nanos;
  }
  return std::nullopt;
}

}  // namespace

std::string format_timestamp(std::int64_t seconds, std::uint32_t nanos) {
  const std::int64_t days = seconds >= 0 ? seconds / 86400 : -((-seconds + 86399) / 86400);
  const std::int64_t rest = seconds - days * 86400;
  const auto date = base::date_of(days);
  return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T" +
         padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2) +
         fraction(nanos) + "Z";
}

std::string format_seconds(std::int64_t nanos) {
  // The smallest number has no positive counterpart.
  const auto amount =
      nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  return (nanos < 0 ? "-" : "") + std::to_string(amount / kSecond) +
         fraction(static_cast<std::int64_t>(amount % kSecond)) + "s";
}

std::optional<Instant> parse_timestamp(std::string_view text, bool zone_needed) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  Instant out;
  Digits digits(text);
  if (!digits.number(4, year) || !digits.literal('-') || !digits.number(2, month) ||
      !digits.literal('-') || !digits.number(2, day)) {
    return std::nullopt;
  }
  if (!digits.literal('T') && (zone_needed || !digits.literal('t'))) return std::nullopt;
  if (!digits.number(2, hour) || !digits.literal(':') || !digits.number(2, minute) ||
      !digits.literal(':') || !digits.number(2, second)) {
    return std::nullopt;
  }
  if (digits.literal('.') && !digits.nanos(out.nanos)) return std::nullopt;
  if (month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return std::nullopt;
  }
  int offset = 0;
  if (!digits.literal('Z') && (zone_needed || (!digits.done() && !digits.literal('z')))) {
    const bool west = digits.literal('-');
    int hours = 0, minutes = 0;
    if ((!west && !digits.literal('+')) || !digits.number(2, hours) || !digits.literal(':') ||
        !digits.number(2, minutes) || hours > 24 || minutes > 60) {
      return std::nullopt;
    }
    offset = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
  }
  if (!digits.done()) return std::nullopt;
  out.seconds =
      base::days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
  return out;
}

std::optional<std::int64_t> parse_nanos(std::string_view text, bool words) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  Int128 total = 0;
  while (!text.empty()) {
    std::size_t at = 0;
    std::uint64_t whole = 0;
    while (at < text.size() && base::is_digit(text[at])) {
      if (at > 18) return std::nullopt;
      whole = whole * 10 + static_cast<std::uint64_t>(text[at++] - '0');
    }
    std::size_t digits = at;
    double part = 0, scale = 0.1;
    if (at < text.size() && text[at] == '.') {
      for (++at; at < text.size() && base::is_digit(text[at]); ++at, ++digits, scale /= 10) {
        part += scale * (text[at] - '0');
      }
    }
    if (digits == 0) return std::nullopt;
    while (words && at < text.size() && text[at] == ' ') ++at;
    std::size_t end = at;
    while (end < text.size() && !base::is_digit(text[end]) && text[end] != '.' && text[end] != ' ')
      ++end;
    const auto unit = unit_of(text.substr(at, end - at), words);
    if (!unit) return std::nullopt;
    total += static_cast<Int128>(whole) * static_cast<std::int64_t>(*unit) +
             static_cast<std::int64_t>(std::llround(part * *unit));
    if (total > INT64_MAX) return std::nullopt;
    while (words && end < text.size() && text[end] == ' ') ++end;
    text.remove_prefix(end);
  }
  return static_cast<std::int64_t>(negative ? -total : total);
}

std::string format_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 400> buffer{};
  // Go's %g with the shortest digits: an exponent below -4 and from 6 on.
  const auto shortest = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                      std::chars_format::scientific);
  const std::string text(buffer.data(), shortest.ptr);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (value == 0 || (exponent >= -4 && exponent < 6)) {
    const auto plain = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::fixed);
    return std::string(buffer.data(), plain.ptr);
  }
  return text;
}

}  // namespace kubewatch::cel
