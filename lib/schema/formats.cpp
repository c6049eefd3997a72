#include "schema/formats.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ascii.hpp"
#include "base/regex.hpp"
#include "base/strings.hpp"

namespace kubewatch::schema {

namespace {

using Check = bool (*)(std::string_view);

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    out.push_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return out;
    start = end + 1;
  }
}

bool all_of_class(std::string_view text, bool (*test)(char)) {
  return std::all_of(text.begin(), text.end(), test);
}

std::optional<int> number(std::string_view text, std::size_t most_digits) {
  if (text.empty() || text.size() > most_digits || !all_of_class(text, base::is_digit)) {
    return std::nullopt;
  }
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// Leading zeros are tolerated, as by the server.
bool is_ipv4(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return false;
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const auto value = number(part, 9);
    return value && *value <= 255;
  });
}

bool is_ipv6(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return false;
  std::array<unsigned char, 16> out{};
  return inet_pton(AF_INET6, std::string(text).c_str(), out.data()) == 1;
}

// "::ffff:1.2.3.4" counts as IPv4 too, since it has dots.
bool is_ipv4_or_mapped(std::string_view text) {
  return is_ipv4(text) || (text.find('.') != std::string_view::npos && is_ipv6(text));
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto bits = number(text.substr(slash + 1), 3);
  const std::string_view address = text.substr(0, slash);
  if (is_ipv4(address)) return bits && *bits <= 32;
  return is_ipv6(address) && bits && *bits <= 128;
}

bool is_mac_of(std::string_view text, char separator, std::size_t digits) {
  const auto parts = split(text, separator);
  const std::size_t bytes = parts.size() * digits / 2;
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return part.size() == digits && all_of_class(part, base::is_hex_digit);
  });
}

bool is_mac(std::string_view text) {
  return is_mac_of(text, ':', 2) || is_mac_of(text, '-', 2) || is_mac_of(text, '.', 4);
}

bool matches(const base::Regex& pattern, std::string_view text) {
  return pattern.search(text);
}

base::Regex must(const char* text) {
  return std::move(base::Regex::compile(text)).value();
}

bool is_uuid_of(std::string_view text, const char* third, const char* fourth) {
  static std::map<std::string, base::Regex> cache;
  const std::string key = std::string(third) + fourth;
  auto it = cache.find(key);
  if (it == cache.end()) {
    const std::string pattern = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?" + std::string(third) + "-?" +
                                std::string(fourth) + "-?[0-9a-f]{12}$";
    it = cache.emplace(key, must(pattern.c_str())).first;
  }
  return it->second.search(text);
}

bool is_uuid(std::string_view text) {
  return is_uuid_of(text, "[0-9a-f]{4}", "[0-9a-f]{4}");
}
bool is_uuid3(std::string_view text) {
  return is_uuid_of(text, "3[0-9a-f]{3}", "[0-9a-f]{4}");
}
bool is_uuid4(std::string_view text) {
  return is_uuid_of(text, "4[0-9a-f]{3}", "[89ab][0-9a-f]{3}");
}
bool is_uuid5(std::string_view text) {
  return is_uuid_of(text, "5[0-9a-f]{3}", "[89ab][0-9a-f]{3}");
}

std::string without(std::string_view text, const std::function<bool(char)>& drop) {
  std::string out;
  for (const char c : text) {
    if (!drop(c)) out += c;
  }
  return out;
}

std::string without_spaces(std::string_view text) {
  return without(text,
                 [](char c) { return c == '-' || std::isspace(static_cast<unsigned char>(c)); });
}

bool is_isbn10(std::string_view text) {
  const std::string digits = without_spaces(text);
  if (digits.size() != 10 || !all_of_class(std::string_view(digits).substr(0, 9), base::is_digit)) {
    return false;
  }
  if (digits[9] != 'X' && !base::is_digit(digits[9])) return false;
  int sum = digits[9] == 'X' ? 100 : 10 * (digits[9] - '0');
  for (int i = 0; i < 9; ++i) sum += (i + 1) * (digits[static_cast<std::size_t>(i)] - '0');
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view text) {
  const std::string digits = without_spaces(text);
  if (digits.size() != 13 || !all_of_class(digits, base::is_digit)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (i % 2 == 0 ? 1 : 3) * (digits[i] - '0');
  return digits[12] - '0' == (10 - sum % 10) % 10;
}

bool is_isbn(std::string_view text) {
  return is_isbn10(text) || is_isbn13(text);
}

bool is_credit_card(std::string_view text) {
  const std::string digits = without(text, [](char c) { return !base::is_digit(c); });
  static const base::Regex pattern = must(
      "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
      "3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$");
  if (!matches(pattern, digits)) return false;
  int sum = 0;
  bool twice = false;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it, twice = !twice) {
    const int digit = (*it - '0') * (twice ? 2 : 1);
    sum += digit >= 10 ? digit % 10 + 1 : digit;
  }
  return sum % 10 == 0;
}

bool is_ssn(std::string_view text) {
  static const base::Regex pattern = must("^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$");
  return text.size() == 11 && matches(pattern, text);
}

bool is_hex_color(std::string_view text) {
  static const base::Regex pattern = must("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$");
  return matches(pattern, text);
}

bool is_rgb_color(std::string_view text) {
  const std::string part = "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
  static const base::Regex pattern =
      must(("^rgb\\(" + part + "," + part + "," + part + "\\)$").c_str());
  return matches(pattern, text);
}

bool is_base64(std::string_view text) {
  static const base::Regex pattern =
      must("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$");
  return matches(pattern, text);
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto year = number(text.substr(0, 4), 4);
  const auto month = number(text.substr(5, 2), 2);
  const auto day = number(text.substr(8, 2), 2);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) return false;
  const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int most = kDays[static_cast<std::size_t>(*month - 1)] + (leap && *month == 2 ? 1 : 0);
  return *day <= most;
}

bool is_date_time(std::string_view text) {
  const std::string lower = base::to_lower(text);
  const auto parts = split(lower, 't');
  if (parts.size() < 2 || !is_date(parts[0])) return false;
  static const base::Regex pattern =
      must("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
  if (!matches(pattern, parts[1])) return false;
  return parts[1].substr(0, 2) <= "23" && parts[1].substr(3, 2) <= "59" &&
         parts[1].substr(6, 2) <= "59";
}

// Go's own form ("1h30m", "-1.5s", "0") or any text with a number and a unit ("2 days").
bool is_duration(std::string_view text) {
  static const base::Regex go = must("^[+-]?(0|((\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)$");
  static const base::Regex loose = must(
      "(?i)\\d+\\s*((ns|us|µs|ms|s|m|h|hr|d|w|wk)([^A-Za-zµ]|$)|nano|micro|milli|sec|min|hour|day|"
      "week)");
  return matches(go, text) || matches(loose, text);
}

// The path part may have % escapes; control characters and spaces in the host are refused.
bool is_uri(std::string_view text) {
  if (text.empty() || text.find_first_of(std::string_view("\0", 1)) != std::string_view::npos) {
    return false;
  }
  for (const char c : text) {
    if (base::is_control(c)) return false;
  }
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 >= text.size() || !all_of_class(text.substr(i + 1, 2), base::is_hex_digit))
      return false;
  }
  if (text[0] == '/' || text == "*") return true;
  static const base::Regex scheme = must("^[A-Za-z][-A-Za-z0-9+.]*:");
  if (!matches(scheme, text)) return false;
  const std::size_t colon = text.find(':');
  if (text.substr(colon + 1, 2) != "//") return true;
  const std::string_view rest = text.substr(colon + 3);
  std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t user = host.rfind('@'); user != std::string_view::npos) {
    host = host.substr(user + 1);
  }
  static const base::Regex authority =
      must("^(\\[[0-9A-Fa-f:.%a-z]*\\]|[^\\[\\] <>\"^`{|}\\\\:]*)(:\\d*)?$");
  return matches(authority, host);
}

bool is_email(std::string_view text) {
  static const base::Regex pattern = must(
      "^\\s*(?:(?:\"[^\"]*\"|[^<>@,;:\\\\\"\\[\\]()]*)\\s*<)?"
      "(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10FFFF}-]+(?:\\."
      "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10FFFF}-]+)*|\"[^\"]+\")"
      "@(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10FFFF}-]+(?:\\."
      "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\x{80}-\\x{10FFFF}-]+)*|\\[[^\\]]+\\])>?\\s*$");
  const bool opened = text.find('<') != std::string_view::npos;
  const bool closed = text.find('>') != std::string_view::npos;
  return opened == closed && matches(pattern, text);
}

bool is_hostname(std::string_view text) {
  static const base::Regex pattern = must(
      "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}]"
      "(([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})"
      "$");
  if (text.size() > 255 || !matches(pattern, text)) return false;
  const auto parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](auto part) { return part.size() <= 63; });
}

bool is_bson_id(std::string_view text) {
  return text.size() == 24 && all_of_class(text, base::is_hex_digit);
}

bool is_short_name(std::string_view text) {
  static const base::Regex pattern = must("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
  return text.size() <= 63 && matches(pattern, text);
}

bool is_long_name(std::string_view text) {
  static const base::Regex pattern =
      must("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
  return text.size() <= 253 && matches(pattern, text);
}

bool anything(std::string_view) {
  return true;
}

std::string normalised(const std::string& format) {
  return without(format, [](char c) { return c == '-'; });
}

const std::map<std::string, Check>& checks() {
  static const std::map<std::string, Check> table = {
      {"bsonobjectid", is_bson_id},
      {"uri", is_uri},
      {"email", is_email},
      {"hostname", is_hostname},
      {"ipv4", is_ipv4_or_mapped},
      {"ipv6", is_ipv6},
      {"cidr", is_cidr},
      {"mac", is_mac},
      {"uuid", is_uuid},
      {"uuid3", is_uuid3},
      {"uuid4", is_uuid4},
      {"uuid5", is_uuid5},
      {"isbn", is_isbn},
      {"isbn10", is_isbn10},
      {"isbn13", is_isbn13},
      {"creditcard", is_credit_card},
      {"ssn", is_ssn},
      {"hexcolor", is_hex_color},
      {"rgbcolor", is_rgb_color},
      {"byte", is_base64},
      {"password", anything},
      {"date", is_date},
      {"duration", is_duration},
      {"datetime", is_date_time},
      {"k8sshortname", is_short_name},
      {"k8slongname", is_long_name},
  };
  return table;
}

}  // namespace

bool is_known_string_format(const std::string& format) {
  return checks().count(normalised(format)) != 0;
}

bool is_known_format(const std::string& type, const std::string& format) {
  if (type.empty() || type == "string") return is_known_string_format(format);
  if (type == "integer") return format == "int32" || format == "int64";
  if (type == "number") return format == "float" || format == "double";
  return false;
}

bool fits_format(const std::string& format, std::string_view text) {
  const auto it = checks().find(normalised(format));
  return it == checks().end() || it->second(text);
}

}  // namespace kubewatch::schema
