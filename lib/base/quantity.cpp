// Parsing and writing quantities.
#include "base/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/ascii.hpp"

namespace kubewatch::base {

namespace {

constexpr int kMaxScale = 9;
constexpr Int128 kMost = (static_cast<Int128>(1) << 126);
constexpr int kRoom = 1000;  // a value above kMost / kRoom may be kMost for want of room

// Times, or as much as there is room for.
Int128 times(Int128 units, Int128 factor) {
  Int128 product = 0;
  if (!__builtin_mul_overflow(units, factor, &product)) return product;
  return units < 0 ? -kMost : kMost;
}

Int128 power_of_ten(int exponent) {
  Int128 out = 1;
  for (int i = 0; i < exponent && out < kMost / 10; ++i) out *= 10;
  return out;
}

struct Suffix {
  const char* text;
  int base;
  int exponent;
};

constexpr std::array<Suffix, 16> kSuffixes = {{{"", 10, 0},
                                               {"n", 10, -9},
                                               {"u", 10, -6},
                                               {"m", 10, -3},
                                               {"k", 10, 3},
                                               {"M", 10, 6},
                                               {"G", 10, 9},
                                               {"T", 10, 12},
                                               {"P", 10, 15},
                                               {"E", 10, 18},
                                               {"Ki", 2, 10},
                                               {"Mi", 2, 20},
                                               {"Gi", 2, 30},
                                               {"Ti", 2, 40},
                                               {"Pi", 2, 50},
                                               {"Ei", 2, 60}}};

const Suffix* suffix_of(std::string_view text) {
  for (const auto& suffix : kSuffixes) {
    if (text == suffix.text) return &suffix;
  }
  return nullptr;
}

// "e3", "E-3"; absent when it is no exponent.
std::optional<int> exponent_of(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (text.empty() || text.size() > 4) return std::nullopt;
  int out = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return negative ? -out : out;
}

}  // namespace

// Whatever is left out counts as 0, as there: "m" is a quantity.
std::optional<Quantity> Quantity::parse(std::string_view text) {
  if (text.empty()) return std::nullopt;
  bool negative = false;
  if (text[0] == '+' || text[0] == '-') {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  int places = -1;
  bool rest = false;
  bool too_large = false;
  Int128 units = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && places < 0)); ++at) {
    if (text[at] == '.') {
      places = 0;
      continue;
    }
    if (units >= kMost / 10 - 9) {
      if (places < 0) {  // more than anybody counts
        too_large = true;
        units = kMost;
      } else {
        rest = rest || text[at] != '0';
      }
      continue;
    }
    units = units * 10 + (text[at] - '0');
    if (places >= 0) ++places;
  }
  int exponent = -std::max(places, 0);
  Format format = Format::decimal;
  const auto tail = text.substr(at);
  if (const Suffix* suffix = suffix_of(tail)) {
    if (suffix->base == 2) {
      units = times(units, static_cast<Int128>(1) << suffix->exponent);
      format = Format::binary;
    } else {
      exponent += suffix->exponent;
    }
  } else if (const auto written = exponent_of(tail)) {
    exponent += *written;
    format = Format::exponent;
  } else {
    return std::nullopt;
  }
  if (exponent > 0) {
    units = times(units, power_of_ten(exponent));
    exponent = 0;
  }
  for (; exponent < -kMaxScale; ++exponent) {  // rounded up, away from zero
    rest = rest || units % 10 != 0;
    units /= 10;
  }
  if (rest && units < kMost) ++units;
  int scale = -exponent;
  for (; scale > 0 && units % 10 == 0; --scale) units /= 10;
  Quantity out(negative ? -units : units, scale, format);
  out.too_large_ = too_large;
  return out;
}

Quantity Quantity::of(std::int64_t number) {
  return {number, 0, Format::decimal};
}

int Quantity::sign() const {
  return units_ < 0 ? -1 : (units_ > 0 ? 1 : 0);
}

std::optional<std::int64_t> Quantity::as_int64() const {
  if (scale_ != 0 || units_ > INT64_MAX || units_ < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(units_);
}

double Quantity::as_double() const {
  return static_cast<double>(units_) / std::pow(10.0, scale_);
}

int Quantity::compare(const Quantity& other) const {
  const int scale = std::max(scale_, other.scale_);
  const Int128 left = times(units_, power_of_ten(scale - scale_));
  const Int128 right = times(other.units_, power_of_ten(scale - other.scale_));
  return left < right ? -1 : (left > right ? 1 : 0);
}

Quantity Quantity::plus(const Quantity& other) const {
  int scale = std::max(scale_, other.scale_);
  const Int128 left = times(units_, power_of_ten(scale - scale_));
  const Int128 right = times(other.units_, power_of_ten(scale - other.scale_));
  Int128 sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) sum = left < 0 ? -kMost : kMost;
  for (; scale > 0 && sum % 10 == 0; --scale) sum /= 10;
  return {sum, scale, format_};
}

Quantity Quantity::minus(const Quantity& other) const {
  return plus(Quantity(-other.units_, other.scale_, other.format_));
}

namespace {

std::string text_of(Int128 number) {
  if (number == 0) return "0";
  const bool negative = number < 0;
  std::string out;
  for (; number != 0; number /= 10) {
    const int digit = static_cast<int>(number % 10);
    out.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  if (negative) out.push_back('-');
  std::reverse(out.begin(), out.end());
  return out;
}

const Suffix* suffix_for(int base, int exponent) {
  for (const auto& suffix : kSuffixes) {
    if (suffix.exponent == exponent && (suffix.base == base || exponent == 0)) return &suffix;
  }
  return nullptr;
}

}  // namespace

// No zeros at the end but those that make the exponent a multiple of three.
std::optional<std::string> Quantity::as_decimal(Format format) const {
  Int128 units = units_;
  int exponent = -scale_;
  for (; units != 0 && units % 10 == 0; ++exponent) units /= 10;
  for (; exponent % 3 != 0; --exponent) units *= 10;
  if (format == Format::exponent) {
    return text_of(units) + (exponent == 0 ? "" : "e" + std::to_string(exponent));
  }
  const Suffix* suffix = suffix_for(10, exponent);
  if (suffix == nullptr) return std::nullopt;
  return text_of(units) + suffix->text;
}

std::optional<std::string> Quantity::canonical() const {
  if (units_ == 0) return "0";
  if (too_large_ || units_ <= -kMost / kRoom || units_ >= kMost / kRoom) return std::nullopt;
  // Where no power of 1024 would show it exactly it is shown as a decimal.
  constexpr int kLeastBinary = 1024;
  const bool small = units_ > -kLeastBinary && units_ < kLeastBinary;
  if (format_ != Format::binary || scale_ != 0 || small) {
    return as_decimal(format_ == Format::binary ? Format::decimal : format_);
  }
  Int128 units = units_;
  int exponent = 0;
  for (; units % 1024 == 0; exponent += 10) units /= 1024;
  const Suffix* suffix = suffix_for(2, exponent);
  if (suffix == nullptr) return std::nullopt;
  return text_of(units) + suffix->text;
}

}  // namespace kubewatch::base
