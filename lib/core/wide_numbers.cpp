#include "core/wide_numbers.hpp"

#include <algorithm>

namespace kubewatch::core {

namespace {

constexpr std::string_view kDigits = "0123456789";

// Behind the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

bool is_wide(std::string_view digits, bool negative) {
  const std::string_view most = negative ? "9223372036854775808" : "18446744073709551615";
  return digits.size() > most.size() || (digits.size() == most.size() && digits > most);
}

}  // namespace

std::string with_wide_numbers(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 16);
  std::size_t at = 0;
  while (at < json.size()) {
    const std::size_t next = std::min(json.find_first_of("\"0123456789", at), json.size());
    out += json.substr(at, next - at);
    at = next;
    if (at == json.size()) break;
    const bool string = json[at] == '"';
    const std::size_t end = string ? end_of_string(json, at)
                                   : std::min(json.find_first_not_of(kDigits, at), json.size());
    const std::string_view token = json.substr(at, end - at);
    out += token;
    const char before = at > 0 ? json[at - 1] : '\0';
    const bool negative = before == '-';
    // Of an exponent the sign stands between.
    const char unsigned_before = !negative ? before : at > 1 ? json[at - 2] : '\0';
    const char behind = end < json.size() ? json[end] : '\0';
    const auto is_of_float = [](char c) { return c == '.' || c == 'e' || c == 'E' || c == '+'; };
    if (!string && !is_of_float(unsigned_before) && !is_of_float(behind) &&
        is_wide(token, negative)) {
      out += ".0";
    }
    at = end;
  }
  return out;
}

}  // namespace kubewatch::core
