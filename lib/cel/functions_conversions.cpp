// int(), uint(), double(), string(), bytes(), bool(), timestamp(), duration(), type(), dyn().
#include <cmath>

#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

// The whole text as a number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  if (text.empty() || text[0] == '+') return std::nullopt;
  return base::read_number<Number>(text);
}

Value to_int(Arguments a, const Prepared& /*prepared*/) {
  const Value& from = a[0];
  switch (from.kind()) {
    case Kind::integer: return from;
    case Kind::uinteger:
      if (from.as_uint() > static_cast<std::uint64_t>(INT64_MAX)) {
        return Value::error("integer overflow");
      }
      return Value::integer(from.as_int());
    case Kind::real:
      if (!(from.as_real() > -kTwo63 && from.as_real() < kTwo63)) {
        return Value::error("integer overflow");
      }
      return Value::integer(static_cast<std::int64_t>(from.as_real()));
    case Kind::string: {
      const auto number = parse_number<std::int64_t>(from.text());
      return number ? Value::integer(*number) : conversion_error(from, "int");
    }
    case Kind::timestamp: return Value::integer(from.as_int());
    case Kind::duration: return Value::integer(from.as_int());
    default: return Value::no_such_overload();
  }
}

Value to_uint(Arguments a, const Prepared& /*prepared*/) {
  const Value& from = a[0];
  switch (from.kind()) {
    case Kind::uinteger: return from;
    case Kind::integer:
      if (from.as_int() < 0) return Value::error("unsigned integer overflow");
      return Value::uinteger(from.as_uint());
    case Kind::real:
      if (!(from.as_real() >= 0 && from.as_real() < kTwo64)) {
        return Value::error("unsigned integer overflow");
      }
      return Value::uinteger(static_cast<std::uint64_t>(from.as_real()));
    case Kind::string: {
      const auto number =
          from.text().starts_with('+') ? std::nullopt : parse_number<std::uint64_t>(from.text());
      return number ? Value::uinteger(*number) : conversion_error(from, "uint");
    }
    default: return Value::no_such_overload();
  }
}

std::optional<double> parse_double(std::string_view text) {
  const std::string lower = base::to_lower(text);
  const std::string_view plain = std::string_view(lower).substr(
      !lower.empty() && (lower[0] == '+' || lower[0] == '-') ? 1 : 0);
  const double sign = !lower.empty() && lower[0] == '-' ? -1 : 1;
  if (plain == "inf" || plain == "infinity") return sign * INFINITY;
  if (plain == "nan") return NAN;
  if (plain.empty() || plain[0] == '-') return std::nullopt;
  const auto number = parse_number<double>(plain);
  return number ? std::optional(sign * *number) : std::nullopt;
}

Value to_double(Arguments a, const Prepared& /*prepared*/) {
  const Value& from = a[0];
  switch (from.kind()) {
    case Kind::real: return from;
    case Kind::integer: return Value::real(static_cast<double>(from.as_int()));
    case Kind::uinteger: return Value::real(static_cast<double>(from.as_uint()));
    case Kind::string: {
      const auto number = parse_double(from.text());
      return number ? Value::real(*number) : conversion_error(from, "double");
    }
    default: return Value::no_such_overload();
  }
}

Value to_string_value(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::string)) return a[0];
  if (a[0].is(Kind::bytes) && !base::is_valid_utf8(a[0].text())) {
    return Value::error("invalid UTF-8 in bytes, cannot convert to string");
  }
  auto text = text_of(a[0]);
  return text ? Value::string(std::move(*text)) : Value::no_such_overload();
}

Value to_bytes(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::bytes)) return a[0];
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  return Value::bytes(std::string(a[0].text()));
}

Value to_bool(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::boolean)) return a[0];
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto text = a[0].text();
  for (const auto* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return Value::boolean(true);
  }
  for (const auto* no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return Value::boolean(false);
  }
  return conversion_error(a[0], "bool");
}

Value to_timestamp(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::timestamp)) return a[0];
  if (a[0].is(Kind::integer)) {
    if (a[0].as_int() < kMinSeconds || a[0].as_int() > kMaxSeconds) {
      return Value::error("timestamp overflow");
    }
    return Value::timestamp(a[0].as_int(), 0);
  }
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto at = parse_timestamp(a[0].text(), true);
  if (!at) return conversion_error(a[0], "google.protobuf.Timestamp");
  if (at->seconds < kMinSeconds || at->seconds > kMaxSeconds) {
    return Value::error("timestamp overflow");
  }
  return Value::timestamp(at->seconds, at->nanos);
}

Value to_duration(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::duration)) return a[0];
  if (a[0].is(Kind::integer)) return Value::duration(a[0].as_int());
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto nanos = parse_nanos(a[0].text(), false);
  return nanos ? Value::duration(*nanos) : conversion_error(a[0], "google.protobuf.Duration");
}

Value to_type(Arguments a, const Prepared& /*prepared*/) {
  return Value::type(a[0].type_name());
}
Value to_dyn(Arguments a, const Prepared& /*prepared*/) {
  return std::move(a[0]);
}

constexpr NamedImplementation kTable[] = {
    {"int", to_int},
    {"uint", to_uint},
    {"double", to_double},
    {"string", to_string_value},
    {"bytes", to_bytes},
    {"bool", to_bool},
    {"timestamp", to_timestamp},
    {"duration", to_duration},
    {"type", to_type},
    {"dyn", to_dyn},
};

}  // namespace

std::optional<std::string> text_of(const Value& value) {
  switch (value.kind()) {
    case Kind::string:
    case Kind::bytes: return std::string(value.text());
    case Kind::boolean: return value.as_bool() ? "true" : "false";
    case Kind::integer: return std::to_string(value.as_int());
    case Kind::uinteger: return std::to_string(value.as_uint());
    case Kind::real: return format_double(value.as_real());
    case Kind::timestamp: return format_timestamp(value.as_int(), value.nanos());
    case Kind::duration: return format_seconds(value.as_int());
    case Kind::ip: return value.as<Address>().str();
    case Kind::cidr: return value.as<Network>().str();
    default: return std::nullopt;
  }
}

Value conversion_error(const Value& from, std::string_view to) {
  return Value::error("type conversion error from '" + std::string(from.type_name()) + "' to '" +
                      std::string(to) + "'");
}

std::span<const NamedImplementation> conversion_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
