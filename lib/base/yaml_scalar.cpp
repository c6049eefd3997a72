#include "base/yaml_scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::base {

namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<bool> as_bool(std::string_view t) {
  if (is_one_of(t, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return true;
  }
  if (is_one_of(t, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return false;
  }
  return std::nullopt;
}

bool is_null(std::string_view t) {
  return is_one_of(t, {"", "~", "null", "Null", "NULL"});
}

std::optional<double> as_special_float(std::string_view t) {
  if (is_one_of(t, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = t.starts_with('-');
  if (negative || t.starts_with('+')) t.remove_prefix(1);
  if (!is_one_of(t, {".inf", ".Inf", ".INF"})) return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

// Decimal, 0x, 0o, 0b and the old 0-prefixed octal; `text` is without sign and underscores.
std::optional<std::uint64_t> as_magnitude(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    base = 8;
    std::size_t prefix = 1;
    if (mark == 'x' || mark == 'X') base = 16, prefix = 2;
    if (mark == 'o' || mark == 'O') base = 8, prefix = 2;
    if (mark == 'b' || mark == 'B') base = 2, prefix = 2;
    text.remove_prefix(prefix);
  }
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Json> as_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto magnitude = as_magnitude(text);
  if (!magnitude) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!negative) {
    if (*magnitude > kMax) return Json(*magnitude);
    return Json(static_cast<std::int64_t>(*magnitude));
  }
  if (*magnitude > kMax + 1) return std::nullopt;
  return Json(static_cast<std::int64_t>(0 - *magnitude));
}

// digits [. digits] [e digits] or . digits [e digits], with a sign.
bool looks_like_float(std::string_view text) {
  const auto skip_digits = [&text] {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool whole = skip_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!skip_digits() && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (!skip_digits()) return false;
  }
  return text.empty();
}

// A float without fraction is written by Go's JSON encoder as an integer, and read back as one.
Json number_of(double value) {
  if (std::trunc(value) == value && std::fabs(value) < 9.2e18) {
    return Json(static_cast<std::int64_t>(value));
  }
  return Json(value);
}

std::optional<Json> as_float(std::string_view text) {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (code == std::errc::result_out_of_range) {
    // Too large is text for Go, too small is zero; from_chars does not say which of both it was.
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && exponent + 1 < text.size() &&
                      text[exponent + 1] == '-';
    if (!tiny) return std::nullopt;
    return Json(0);
  }
  return number_of(value);
}

std::optional<Json> as_number(std::string_view text) {
  const char first = text.empty() ? '\0' : text[0];
  const bool numeric = is_digit(first) || first == '-' || first == '+' || first == '.';
  if (!numeric) return std::nullopt;
  std::string digits(text);
  std::erase(digits, '_');
  if (auto integer = as_integer(digits)) return integer;
  return as_float(digits);
}

Error not_a(std::string_view what, std::string_view text) {
  return Error(ErrorKind::invalid, fmt::format("\"{}\" is tagged as {} but is none",
                                               escape_for_terminal(text.substr(0, 64)), what));
}

Result<Json> as_binary(std::string_view text) {
  std::string compact(text);
  std::erase_if(compact, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  KW_ASSIGN(std::string bytes, base64_decode(compact));
  if (!is_valid_utf8(bytes)) {
    return Error(ErrorKind::invalid, "!!binary data that is not UTF-8 text has no place in JSON");
  }
  return Json(std::move(bytes));
}

}  // namespace

Json resolve_plain_scalar(std::string_view text) {
  if (is_null(text)) return nullptr;
  if (const auto value = as_bool(text)) return *value;
  if (const auto value = as_special_float(text)) return *value;
  if (auto value = as_number(text)) return *std::move(value);
  return std::string(text);
}

Result<Json> resolve_tagged_scalar(std::string_view tag, std::string_view text) {
  constexpr std::string_view kCore = "tag:yaml.org,2002:";
  if (!tag.starts_with(kCore)) return Json(std::string(text));
  tag.remove_prefix(kCore.size());
  if (tag == "binary") return as_binary(text);
  if (tag == "null") return is_null(text) ? Result<Json>(Json()) : not_a("!!null", text);
  if (tag == "bool") {
    const auto value = as_bool(text);
    return value ? Result<Json>(Json(*value)) : not_a("!!bool", text);
  }
  if (tag == "int") {
    auto value = as_number(text);
    return value && value->is_number_integer() ? Result<Json>(*value) : not_a("!!int", text);
  }
  if (tag == "float") {
    if (const auto special = as_special_float(text)) return Json(*special);
    auto value = as_number(text);
    return value ? Result<Json>(*value) : not_a("!!float", text);
  }
  return Json(std::string(text));
}

}  // namespace kubewatch::base
