// Arithmetic, comparison, membership, size.
#include <cmath>

#include "cel/functions.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

bool both(Arguments a, Kind kind) {
  return a[0].is(kind) && a[1].is(kind);
}

Value int_overflow() {
  return Value::error("integer overflow");
}
Value uint_overflow() {
  return Value::error("unsigned integer overflow");
}

Value moment(Int128 nanos_since_1970) {
  constexpr Int128 kSecond = 1000000000;
  Int128 seconds = nanos_since_1970 / kSecond;
  Int128 nanos = nanos_since_1970 % kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --seconds;
  }
  if (seconds < kMinSeconds || seconds > kMaxSeconds) return Value::error("timestamp overflow");
  return Value::timestamp(static_cast<std::int64_t>(seconds), static_cast<std::uint32_t>(nanos));
}

Int128 nanos_of(const Value& timestamp) {
  return static_cast<Int128>(timestamp.as_int()) * 1000000000 + timestamp.nanos();
}

Value span_of(Int128 nanos) {
  if (nanos > INT64_MAX || nanos < INT64_MIN) return Value::error("duration overflow");
  return Value::duration(static_cast<std::int64_t>(nanos));
}

Value add(Arguments a, const Prepared& prepared) {
  if (both(a, Kind::integer)) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a[0].as_int(), a[1].as_int(), &sum)) return int_overflow();
    return Value::integer(sum);
  }
  if (both(a, Kind::string)) return Value::string(std::string(a[0].text()).append(a[1].text()));
  if (both(a, Kind::list)) return concatenated(std::move(a[0]), a[1], *prepared.allowance);
  if (both(a, Kind::uinteger)) {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a[0].as_uint(), a[1].as_uint(), &sum)) return uint_overflow();
    return Value::uinteger(sum);
  }
  if (both(a, Kind::real)) return Value::real(a[0].as_real() + a[1].as_real());
  if (both(a, Kind::bytes)) return Value::bytes(std::string(a[0].text()).append(a[1].text()));
  if (both(a, Kind::duration)) {
    return span_of(static_cast<Int128>(a[0].as_int()) + a[1].as_int());
  }
  if (a[0].is(Kind::timestamp) && a[1].is(Kind::duration)) {
    return moment(nanos_of(a[0]) + a[1].as_int());
  }
  if (a[0].is(Kind::duration) && a[1].is(Kind::timestamp)) {
    return moment(nanos_of(a[1]) + a[0].as_int());
  }
  return Value::no_such_overload();
}

Value subtract(Arguments a, const Prepared& /*prepared*/) {
  if (both(a, Kind::integer)) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a[0].as_int(), a[1].as_int(), &difference)) return int_overflow();
    return Value::integer(difference);
  }
  if (both(a, Kind::uinteger)) {
    if (a[0].as_uint() < a[1].as_uint()) return uint_overflow();
    return Value::uinteger(a[0].as_uint() - a[1].as_uint());
  }
  if (both(a, Kind::real)) return Value::real(a[0].as_real() - a[1].as_real());
  if (both(a, Kind::duration)) {
    return span_of(static_cast<Int128>(a[0].as_int()) - a[1].as_int());
  }
  if (both(a, Kind::timestamp)) return span_of(nanos_of(a[0]) - nanos_of(a[1]));
  if (a[0].is(Kind::timestamp) && a[1].is(Kind::duration)) {
    return moment(nanos_of(a[0]) - a[1].as_int());
  }
  return Value::no_such_overload();
}

Value multiply(Arguments a, const Prepared& /*prepared*/) {
  if (both(a, Kind::integer)) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a[0].as_int(), a[1].as_int(), &product)) return int_overflow();
    return Value::integer(product);
  }
  if (both(a, Kind::uinteger)) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a[0].as_uint(), a[1].as_uint(), &product)) return uint_overflow();
    return Value::uinteger(product);
  }
  if (both(a, Kind::real)) return Value::real(a[0].as_real() * a[1].as_real());
  return Value::no_such_overload();
}

Value divide(Arguments a, const Prepared& /*prepared*/) {
  if (both(a, Kind::real)) return Value::real(a[0].as_real() / a[1].as_real());
  if (!both(a, Kind::integer) && !both(a, Kind::uinteger)) return Value::no_such_overload();
  if (a[1].as_int() == 0) return Value::error("division by zero");
  if (a[0].is(Kind::uinteger)) return Value::uinteger(a[0].as_uint() / a[1].as_uint());
  if (a[0].as_int() == INT64_MIN && a[1].as_int() == -1) return int_overflow();
  return Value::integer(a[0].as_int() / a[1].as_int());
}

Value modulo(Arguments a, const Prepared& /*prepared*/) {
  if (!both(a, Kind::integer) && !both(a, Kind::uinteger)) return Value::no_such_overload();
  if (a[1].as_int() == 0) return Value::error("modulus by zero");
  if (a[0].is(Kind::uinteger)) return Value::uinteger(a[0].as_uint() % a[1].as_uint());
  if (a[0].as_int() == INT64_MIN && a[1].as_int() == -1) return int_overflow();
  return Value::integer(a[0].as_int() % a[1].as_int());
}

Value negate(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::real)) return Value::real(-a[0].as_real());
  if (!a[0].is(Kind::integer)) return Value::no_such_overload();
  if (a[0].as_int() == INT64_MIN) return int_overflow();
  return Value::integer(-a[0].as_int());
}

Value logical_not(Arguments a, const Prepared& /*prepared*/) {
  return a[0].is(Kind::boolean) ? Value::boolean(!a[0].as_bool()) : Value::no_such_overload();
}

bool is_nan(const Value& value) {
  return value.is(Kind::real) && std::isnan(value.as_real());
}

// `wanted`: which outcomes of the comparison are true.
template <bool kLess, bool kEqual, bool kGreater>
Value relation(Arguments a, const Prepared& /*prepared*/) {
  const auto order = compare(a[0], a[1]);
  if (order) return Value::boolean(*order < 0 ? kLess : (*order == 0 ? kEqual : kGreater));
  if (is_nan(a[0]) || is_nan(a[1])) return Value::error("NaN values cannot be ordered");
  return Value::no_such_overload();
}

Value equal(Arguments a, const Prepared& prepared) {
  return equals(a[0], a[1], *prepared.allowance);
}

Value not_equal(Arguments a, const Prepared& prepared) {
  const Value verdict = equals(a[0], a[1], *prepared.allowance);
  return verdict.is_error() ? verdict : Value::boolean(!verdict.as_bool());
}

Value member_of(Arguments a, const Prepared& prepared) {
  if (a[1].is(Kind::map)) {
    const auto found = entry(a[1], a[0]);
    if (found && found->is_error()) return *found;
    return Value::boolean(found.has_value());
  }
  if (!a[1].is(Kind::list)) return Value::no_such_overload();
  for (std::size_t i = 0, size = *size_of(a[1]); i < size; ++i) {
    if (equals(a[0], element(a[1], i), *prepared.allowance).is_true()) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value size(Arguments a, const Prepared& /*prepared*/) {
  const auto count = size_of(a[0]);
  return count ? Value::integer(static_cast<std::int64_t>(*count)) : Value::no_such_overload();
}

constexpr NamedImplementation kTable[] = {
    {"_+_", add},
    {"_-_", subtract},
    {"_*_", multiply},
    {"_/_", divide},
    {"_%_", modulo},
    {"-_", negate},
    {"!_", logical_not},
    {"_<_", relation<true, false, false>},
    {"_<=_", relation<true, true, false>},
    {"_>_", relation<false, false, true>},
    {"_>=_", relation<false, true, true>},
    {"_==_", equal},
    {"_!=_", not_equal},
    {"@in", member_of},
    {"size", size},
};

}  // namespace

std::span<const NamedImplementation> operator_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
