// Optional values, as far as they do not decide what is evaluated.
#include "cel/functions.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

Value of(Arguments a, const Prepared& /*prepared*/) {
  return Value::some(std::move(a[0]));
}
Value of_non_zero(Arguments a, const Prepared& /*prepared*/) {
  return is_zero(a[0]) ? Value::none() : Value::some(std::move(a[0]));
}
Value none(Arguments /*a*/, const Prepared& /*prepared*/) {
  return Value::none();
}

Value value(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::optional)) return Value::no_such_overload();
  const Value* inner = held(a[0]);
  return inner == nullptr ? Value::error("optional.none() dereference") : *inner;
}
Value has_value(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::optional)) return Value::no_such_overload();
  return Value::boolean(held(a[0]) != nullptr);
}

template <bool kLast>
Value end(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  const std::size_t size = *size_of(a[0]);
  return size == 0 ? Value::none() : Value::some(element(a[0], kLast ? size - 1 : 0));
}

Value unwrap(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  std::vector<Value> out;
  for (std::size_t i = 0, size = *size_of(a[0]); i < size && prepared.allowance->items(1); ++i) {
    const Value item = element(a[0], i);
    if (!item.is(Kind::optional)) return Value::error("value is not optional");
    if (const Value* inner = held(item)) out.push_back(*inner);
  }
  return list(std::move(out));
}

constexpr NamedImplementation kTable[] = {
    {"optional.of", of},     {"optional.ofNonZeroValue", of_non_zero},
    {"optional.none", none}, {"value", value},
    {"hasValue", has_value}, {"first", end<false>},
    {"last", end<true>},     {"optional.unwrap", unwrap},
    {"unwrapOpt", unwrap},
};

}  // namespace

std::span<const NamedImplementation> optional_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
