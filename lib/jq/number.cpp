#include "jq/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/number_text.hpp"

namespace kubewatch::jq {

namespace {

__extension__ using Wide = __int128;

// Beyond this jq prints exponents, and doubles are far from exact.
constexpr double kLargestExact = 1e17;

bool is_integer(const Json& number) {
  return number.is_number_integer();
}

Wide wide(const Json& number) {
  if (number.is_number_unsigned()) return static_cast<Wide>(number.get<std::uint64_t>());
  return static_cast<Wide>(number.get<std::int64_t>());
}

double real(const Json& number) {
  return number.get<double>();
}

std::optional<Json> fit(Wide value) {
  constexpr auto kMin = static_cast<Wide>(std::numeric_limits<std::int64_t>::min());
  constexpr auto kMax = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  constexpr auto kMaxUnsigned = static_cast<Wide>(std::numeric_limits<std::uint64_t>::max());
  if (value >= kMin && value <= kMax) return Json(static_cast<std::int64_t>(value));
  if (value > kMax && value <= kMaxUnsigned) return Json(static_cast<std::uint64_t>(value));
  return std::nullopt;
}

// Shortest digits that read back the same, and the power of ten of the first one.
struct Digits {
  std::string digits;
  int exponent = 0;
};

Digits shortest_digits(double value) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t mark = text.find('e');
  Digits out;
  for (const char c : text.substr(0, mark)) {
    if (c != '.') out.digits.push_back(c);
  }
  out.exponent = std::stoi(std::string(text.substr(mark + 1)));
  return out;
}

}  // namespace

Json make_number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) {
    const double largest = std::numeric_limits<double>::max();
    return value > 0 ? largest : -largest;
  }
  if (std::trunc(value) == value && std::fabs(value) < kLargestExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

std::optional<Json> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view unsigned_part = text.starts_with('-') ? text.substr(1) : text;
  if (unsigned_part.empty() || unsigned_part.starts_with('-') || unsigned_part.starts_with('+')) {
    return std::nullopt;
  }
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  const char* const end = text.data() + text.size();
  if (const auto integer = base::read_number<std::int64_t>(text)) return Json(*integer);
  if (const auto large = base::read_number<std::uint64_t>(text)) return Json(*large);
  double value = 0;
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ptr != end) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) {
    const bool tiny = text.find("e-") != std::string_view::npos ||
                      text.find("E-") != std::string_view::npos ||
                      unsigned_part.starts_with("0.") || unsigned_part.starts_with('.');
    const double limit = std::numeric_limits<double>::infinity();
    return make_number(tiny ? 0.0 : (text.starts_with('-') ? -limit : limit));
  }
  if (read.ec != std::errc()) return std::nullopt;
  return make_number(value);
}

std::string dump_number(const Json& number) {
  if (is_integer(number)) return number.dump();
  const double value = real(number);
  if (!std::isfinite(value)) return dump_number(make_number(value));
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const Digits d = shortest_digits(std::fabs(value));
  const int count = static_cast<int>(d.digits.size());
  const int point = d.exponent + 1;  // digits before the decimal point
  std::string out = value < 0 ? "-" : "";
  if (point <= -4 || point > count + 15) {
    out += d.digits.substr(0, 1);
    if (count > 1) out += "." + d.digits.substr(1);
    const int size = std::abs(d.exponent);
    out += d.exponent < 0 ? "e-" : "e+";
    return out + (size < 10 ? "0" : "") + std::to_string(size);
  }
  if (point <= 0) return out + "0." + std::string(static_cast<std::size_t>(-point), '0') + d.digits;
  if (point >= count)
    return out + d.digits + std::string(static_cast<std::size_t>(point - count), '0');
  const auto split = static_cast<std::size_t>(point);
  return out + d.digits.substr(0, split) + "." + d.digits.substr(split);
}

int compare_numbers(const Json& a, const Json& b) {
  if (is_integer(a) && is_integer(b)) {
    const Wide x = wide(a);
    const Wide y = wide(b);
    return x < y ? -1 : (x > y ? 1 : 0);
  }
  // 64 bits of mantissa hold every integer type exactly.
  const auto x = a.get<long double>();
  const auto y = b.get<long double>();
  return x < y ? -1 : (x > y ? 1 : 0);
}

Json add_numbers(const Json& a, const Json& b) {
  if (is_integer(a) && is_integer(b)) {
    if (auto exact = fit(wide(a) + wide(b))) return *std::move(exact);
  }
  return make_number(real(a) + real(b));
}

Json subtract_numbers(const Json& a, const Json& b) {
  if (is_integer(a) && is_integer(b)) {
    if (auto exact = fit(wide(a) - wide(b))) return *std::move(exact);
  }
  return make_number(real(a) - real(b));
}

Json multiply_numbers(const Json& a, const Json& b) {
  Wide product = 0;
  if (is_integer(a) && is_integer(b) && !__builtin_mul_overflow(wide(a), wide(b), &product)) {
    if (auto exact = fit(product)) return *std::move(exact);
  }
  return make_number(real(a) * real(b));
}

Json divide_numbers(const Json& a, const Json& b) {
  if (is_integer(a) && is_integer(b) && wide(a) % wide(b) == 0) {
    if (auto exact = fit(wide(a) / wide(b))) return *std::move(exact);
  }
  return make_number(real(a) / real(b));
}

std::int64_t to_int64(const Json& number) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  if (number.is_number_unsigned()) {
    const auto value = number.get<std::uint64_t>();
    return value > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(value);
  }
  if (is_integer(number)) return number.get<std::int64_t>();
  const double value = real(number);
  if (value >= 9.2233720368547758e18) return kMax;
  if (value <= -9.2233720368547758e18) return kMin;
  return static_cast<std::int64_t>(value);
}

Json remainder_of(std::int64_t a, std::int64_t b) {
  // The one division that overflows.
  if (b == -1) return 0;
  return a % b;
}

Json negate_number(const Json& a) {
  return subtract_numbers(Json(0), a);
}

}  // namespace kubewatch::jq
