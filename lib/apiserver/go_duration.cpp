#include "apiserver/go_duration.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

// What is read of a text so far.
struct DurationReader {
  std::string_view rest;

  bool at_number() const { return !rest.empty() && (rest[0] == '.' || base::is_digit(rest[0])); }
  std::string_view take(std::size_t count) {
    const std::string_view out = rest.substr(0, count);
    rest.remove_prefix(count);
    return out;
  }
  std::string_view digits() {
    std::size_t count = 0;
    while (count < rest.size() && base::is_digit(rest[count])) ++count;
    return take(count);
  }
  std::string_view unit() {
    std::size_t count = 0;
    while (count < rest.size() && rest[count] != '.' && !base::is_digit(rest[count])) ++count;
    return take(count);
  }
};

// In nanoseconds; 0 of a unit that there is not.
double unit_size(std::string_view unit) {
  static const std::map<std::string_view, double> sizes = {
      {"ns", 1},   {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
      {"ms", 1e6}, {"s", 1e9},  {"m", 60e9},      {"h", 3600e9}};
  const auto it = sizes.find(unit);
  return it == sizes.end() ? 0 : it->second;
}

double number_of(std::string_view whole, std::string_view fraction) {
  return std::strtod(fmt::format("0{}.{}0", whole, fraction).c_str(), nullptr);
}

}  // namespace

std::optional<std::string> why_no_duration(std::string_view text) {
  const std::string none = "time: invalid duration " + schema::go_quoted(text);
  DurationReader reader{text};
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) reader.take(1);
  if (reader.rest == "0") return std::nullopt;
  if (reader.rest.empty()) return none;
  double total = 0;
  while (!reader.rest.empty()) {
    if (!reader.at_number()) return none;
    const std::string_view whole = reader.digits();
    std::string_view fraction;
    if (!reader.rest.empty() && reader.rest[0] == '.') {
      reader.take(1);
      fraction = reader.digits();
    }
    if (whole.empty() && fraction.empty()) return none;
    const std::string_view unit = reader.unit();
    if (unit.empty()) return "time: missing unit in duration " + schema::go_quoted(text);
    const double size = unit_size(unit);
    if (size == 0) {
      return fmt::format("time: unknown unit {} in duration {}", schema::go_quoted(unit),
                         schema::go_quoted(text));
    }
    total += number_of(whole, fraction) * size;
    if (total >= 9223372036854775807.0) return none;
  }
  return std::nullopt;
}

}  // namespace kubewatch::apiserver
