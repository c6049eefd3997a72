#include "cel/format_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/ascii.hpp"
#include "cel/functions.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;

constexpr int kDefaultPrecision = 6;
constexpr int kMaxPrecision = 1000;

struct Failed {
  std::string why;
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string printed(const char* format, int precision, double value) {
  std::array<char, 1500> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), format, precision, value);
  return std::string(buffer.data(), static_cast<std::size_t>(std::max(size, 0)));
}

std::string special(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "∞" : "-∞";
}

// "1,234.50": thousands apart, as an English locale does.
std::string fixed(double value, int precision) {
  if (!std::isfinite(value)) return special(value);
  std::string text = printed("%.*f", precision, value);
  auto end = text.find('.');
  if (end == std::string::npos) end = text.size();
  const std::size_t begin = text[0] == '-' ? 1 : 0;
  for (std::size_t at = end; at > begin + 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// "1.052×10⁰³".
std::string scientific(double value, int precision) {
  if (!std::isfinite(value)) return special(value);
  static constexpr std::array<const char*, 10> kRaised = {"⁰", "¹", "²", "³", "⁴",
                                                          "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string text = printed("%.*e", precision, value);
  const auto split = text.find('e');
  std::string out = text.substr(0, split) + "×10";
  for (const char c : text.substr(split + 1)) {
    if (c == '-') out += "⁻";
    if (base::is_digit(c)) out += kRaised[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

std::string in_base(std::uint64_t number, unsigned base, bool upper) {
  const char* const digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  do {
    out += digits[number % base];
    number /= base;
  } while (number != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

class Formatter {
 public:
  explicit Formatter(Allowance& allowance) : allowance_(allowance) {}

  Value run(std::string_view format, const Value& arguments) {
    std::string out;
    std::size_t next = 0;
    const std::size_t count = *size_of(arguments);
    for (std::size_t at = 0; at < format.size() && !failed_; ++at) {
      if (format[at] != '%') {
        out += format[at];
        continue;
      }
      if (at + 1 >= format.size()) return Value::error("unexpected end of string");
      if (format[at + 1] == '%') {
        out += '%';
        ++at;
        continue;
      }
      const int precision = read_precision(format, ++at);
      if (failed_) break;
      if (next >= count) return Value::error("index " + std::to_string(next) + " out of range");
      out += clause(at < format.size() ? format[at] : '\0', precision, element(arguments, next++));
    }
    if (failed_) return Value::error(failed_->why);
    return Value::string(std::move(out));
  }

 private:
  std::string fail(std::string why) {
    if (!failed_) failed_ = Failed{std::move(why)};
    return "";
  }
  // Before its text is made; lists and maps pay for what is in them.
  bool afford(const Value& value) {
    const bool has_text = value.is(Kind::string) || value.is(Kind::bytes);
    if (allowance_.look() && (!has_text || allowance_.text(value.text().size()))) return true;
    fail(std::string(Value::cancelled().text()));
    return false;
  }
  std::string misfit(const char* what, const Value& value, const char* may) {
    return fail("error during formatting: " + std::string(what) + may + ", was given " +
                std::string(value.type_name()));
  }

  int read_precision(std::string_view format, std::size_t& at) {
    if (at >= format.size() || format[at] != '.') return kDefaultPrecision;
    int precision = 0;
    bool digits = false;
    for (++at; at < format.size() && base::is_digit(format[at]); ++at) {
      precision = std::min(precision * 10 + (format[at] - '0'), kMaxPrecision);
      digits = true;
    }
    if (!digits) fail("error while parsing precision: unable to find end of precision specifier");
    return precision;
  }

  std::string clause(char kind, int precision, const Value& value) {
    if (value.is_error()) return fail(std::string(value.text()));
    if (!afford(value)) return "";
    switch (kind) {
      case 's': return text(value);
      case 'd':
        if (value.is(Kind::integer) || value.is(Kind::uinteger)) return *text_of(value);
        return misfit("decimal clause can only be used on integers", value, "");
      case 'f':
      case 'e': return real(kind, precision, value);
      case 'b':
        if (value.is(Kind::boolean)) return value.as_bool() ? "1" : "0";
        return whole(value, 2, false, "only integers and bools can be formatted as binary");
      case 'o': return whole(value, 8, false, "octal clause can only be used on integers");
      case 'x':
      case 'X': return hex(value, kind == 'X');
      default:
        return fail(std::string("could not parse formatting clause: unrecognized formatting "
                                "clause \"") +
                    kind + "\"");
    }
  }

  std::string real(char kind, int precision, const Value& value) {
    std::optional<double> number;
    if (value.is(Kind::real)) number = value.as_real();
    if (value.is(Kind::string)) {
      if (value.text() == "NaN") number = NAN;
      if (value.text() == "Infinity") number = INFINITY;
      if (value.text() == "-Infinity") number = -INFINITY;
    }
    if (!number) {
      return misfit(kind == 'f' ? "fixed-point clause can only be used on doubles"
                                : "scientific clause can only be used on doubles",
                    value, "");
    }
    return kind == 'f' ? fixed(*number, precision) : scientific(*number, precision);
  }

  std::string whole(const Value& value, unsigned base, bool upper, const char* complaint) {
    if (value.is(Kind::uinteger)) return in_base(value.as_uint(), base, upper);
    if (!value.is(Kind::integer)) return misfit(complaint, value, "");
    const auto number = value.as_int();
    if (number >= 0) return in_base(static_cast<std::uint64_t>(number), base, upper);
    return "-" + in_base(0 - static_cast<std::uint64_t>(number), base, upper);
  }

  std::string hex(const Value& value, bool upper) {
    if (!value.is(Kind::string) && !value.is(Kind::bytes)) {
      return whole(value, 16, upper,
                   "only integers, byte buffers, and strings can be formatted as hex");
    }
    std::string out;
    for (const char c : value.text()) {
      const auto byte = static_cast<unsigned char>(c);
      out += in_base(byte >> 4U, 16, upper) + in_base(byte & 15U, 16, upper);
    }
    return out;
  }

  std::string text(const Value& value) {
    if (value.is(Kind::list)) return list_text(value);
    if (value.is(Kind::map)) return map_text(value);
    if (value.is(Kind::null)) return "null";
    if (value.is(Kind::type)) return std::string(value.text());
    const bool plain = !value.is(Kind::ip) && !value.is(Kind::cidr);
    if (const auto known = text_of(value); known && plain) return *known;
    return misfit(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
        "lists, types, durations, and timestamps",
        value, "");
  }

  // Inside lists and maps.
  std::string nested(const Value& value) {
    if (value.is_error()) return fail(std::string(value.text()));
    if (!afford(value)) return "";
    switch (value.kind()) {
      case Kind::string: return quoted(value.text());
      case Kind::bytes: return "b" + quoted(value.text());
      case Kind::timestamp: return "timestamp(\"" + *text_of(value) + "\")";
      case Kind::duration: return "duration(\"" + *text_of(value) + "\")";
      case Kind::type: return "type(" + std::string(value.text()) + ")";
      case Kind::real: {
        const double number = value.as_real();
        if (std::isfinite(number)) return printed("%.*f", kDefaultPrecision, number);
        return std::isnan(number) ? "\"NaN\"" : (number > 0 ? "\"+Inf\"" : "\"-Inf\"");
      }
      default: return text(value);
    }
  }

  std::string list_text(const Value& value) {
    std::string out = "[";
    for (std::size_t i = 0, size = *size_of(value); i < size && !failed_; ++i) {
      if (i > 0) out += ", ";
      out += nested(element(value, i));
    }
    return out + "]";
  }

  std::string map_text(const Value& value) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const auto& key : keys(value)) {
      if (failed_) return "";
      const auto found = entry(value, key);
      if (found) entries.emplace_back(nested(key), nested(*found));
    }
    std::sort(entries.begin(), entries.end());
    std::string out = "{";
    for (const auto& [key, text] : entries) {
      if (out.size() > 1) out += ", ";
      out += key + ":" + text;
    }
    return out + "}";
  }

  Allowance& allowance_;
  std::optional<Failed> failed_;
};

}  // namespace

Value format_text(std::string_view format, const Value& arguments, Allowance& allowance) {
  return Formatter(allowance).run(format, arguments);
}

}  // namespace kubewatch::cel
