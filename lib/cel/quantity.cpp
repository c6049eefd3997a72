// Quantities and semantic versions: cel/opaque.hpp.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

constexpr int kMaxScale = 9;
constexpr Int128 kMost = (static_cast<Int128>(1) << 126);

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

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

const Suffix* suffix_of(std::string_view text) {
  static constexpr std::array<Suffix, 16> kSuffixes = {{{"", 10, 0},
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

std::optional<Quantity> Quantity::parse(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  int places = -1;
  bool any = false, rest = false;
  Int128 units = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && places < 0)); ++at) {
    if (text[at] == '.') {
      places = 0;
      continue;
    }
    any = true;
    if (units >= kMost / 10 - 9) {
      if (places < 0) return std::nullopt;  // too many digits before the point
      rest = rest || text[at] != '0';
      continue;
    }
    units = units * 10 + (text[at] - '0');
    if (places >= 0) ++places;
  }
  if (!any) return std::nullopt;
  int exponent = -std::max(places, 0);
  const auto tail = text.substr(at);
  if (const Suffix* suffix = suffix_of(tail)) {
    if (suffix->base == 2) {
      units = times(units, static_cast<Int128>(1) << suffix->exponent);
    } else {
      exponent += suffix->exponent;
    }
  } else if (const auto written = exponent_of(tail)) {
    exponent += *written;
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
  if (rest) ++units;
  int scale = -exponent;
  for (; scale > 0 && units % 10 == 0; --scale) units /= 10;
  return Quantity(negative ? -units : units, scale);
}

Quantity Quantity::of(std::int64_t number) {
  return {number, 0};
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
  return {sum, scale};
}

Quantity Quantity::minus(const Quantity& other) const {
  return plus(Quantity(-other.units_, other.scale_));
}

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

Error broken(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

Result<std::uint64_t> version_number(std::string_view text, const char* name) {
  if (!is_number(text)) {
    return broken("Invalid character(s) found in " + std::string(name) + " number \"" +
                  std::string(text) + "\"");
  }
  if (text.size() > 1 && text[0] == '0') {
    std::string title(name);
    title[0] = static_cast<char>(title[0] - 32);
    return broken(title + " number must not contain leading zeroes \"" + std::string(text) + "\"");
  }
  if (text.size() > 19) return broken("version number \"" + std::string(text) + "\" is too large");
  std::uint64_t out = 0;
  for (const char c : text) out = out * 10 + static_cast<std::uint64_t>(c - '0');
  return out;
}

// "v01.2" as "1.2.0".
Result<std::string> normalized(std::string_view text) {
  if (!text.empty() && text[0] == 'v') text.remove_prefix(1);
  std::vector<std::string> parts;
  while (parts.size() < 2 && text.find('.') != std::string_view::npos) {
    parts.emplace_back(text.substr(0, text.find('.')));
    text.remove_prefix(text.find('.') + 1);
  }
  parts.emplace_back(text);
  for (auto& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, part.find_first_not_of('0') == std::string::npos ? part.size()
                                                                   : part.find_first_not_of('0'));
    if (part.empty() || !is_digit(part[0])) part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return broken("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.size() < 3) parts.emplace_back("0");
  return base::join(parts, ".");
}

int compare_identifiers(const std::string& left, const std::string& right) {
  const bool left_number = is_number(left), right_number = is_number(right);
  if (left_number != right_number) return left_number ? -1 : 1;
  if (left_number && left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left == right ? 0 : (left < right ? -1 : 1);
}

}  // namespace

Result<Semver> Semver::parse(std::string_view text, bool normalize) {
  std::string own;
  if (normalize) {
    KW_ASSIGN(own, normalized(text));
    text = own;
  }
  if (text.empty()) return broken("Version string empty");
  const auto first = text.find('.');
  const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return broken("No Major.Minor.Patch elements found");
  Semver out;
  KW_ASSIGN(out.major, version_number(text.substr(0, first), "major"));
  KW_ASSIGN(out.minor, version_number(text.substr(first + 1, second - first - 1), "minor"));
  std::string_view rest = text.substr(second + 1);
  const auto plus = rest.find('+');
  if (plus != std::string_view::npos) {
    for (const auto& part : base::split(rest.substr(plus + 1), '.')) {
      if (part.empty()) return broken("Build meta data is empty");
      if (!is_identifier(part)) {
        return broken("Invalid character(s) found in build meta data \"" + part + "\"");
      }
    }
    rest = rest.substr(0, plus);
  }
  const auto dash = rest.find('-');
  KW_ASSIGN(out.patch, version_number(rest.substr(0, dash), "patch"));
  if (dash == std::string_view::npos) return out;
  for (auto& part : base::split(rest.substr(dash + 1), '.')) {
    if (part.empty()) return broken("Prerelease is empty");
    if (!is_identifier(part)) {
      return broken("Invalid character(s) found in prerelease \"" + part + "\"");
    }
    if (is_number(part) && part.size() > 1 && part[0] == '0') {
      return broken("Numeric PreRelease version must not contain leading zeroes \"" + part + "\"");
    }
    out.pre.push_back(std::move(part));
  }
  return out;
}

int Semver::compare(const Semver& other) const {
  if (major != other.major) return major < other.major ? -1 : 1;
  if (minor != other.minor) return minor < other.minor ? -1 : 1;
  if (patch != other.patch) return patch < other.patch ? -1 : 1;
  if (pre.empty() || other.pre.empty()) {  // a release is after its prereleases
    return static_cast<int>(pre.empty()) - static_cast<int>(other.pre.empty());
  }
  for (std::size_t i = 0; i < std::min(pre.size(), other.pre.size()); ++i) {
    if (const int by_part = compare_identifiers(pre[i], other.pre[i]); by_part != 0) return by_part;
  }
  if (pre.size() == other.pre.size()) return 0;
  return pre.size() < other.pre.size() ? -1 : 1;
}

}  // namespace kubewatch::cel
