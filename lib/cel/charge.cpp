#include <algorithm>
#include <map>

#include "cel/cost.hpp"
#include "cel/declarations.hpp"
#include "cel/opaque.hpp"
#include "cel/plan.hpp"

namespace kubewatch::cel {

namespace {

std::uint64_t size_or_one(const Value& value) {
  if (value.is(Value::Kind::optional) && held(value) != nullptr) return size_or_one(*held(value));
  if (value.is(Value::Kind::ip)) return value.as<Address>().v4 ? 4 : 16;
  if (value.is(Value::Kind::cidr)) return value.as<Network>().address.v4 ? 4 : 16;
  return size_of(value).value_or(1);
}

// Down to the last string, rounded off.
std::uint64_t traversal(const Value& value, Allowance& allowance) {
  if (!allowance.look()) return 0;
  switch (value.kind()) {
    case Value::Kind::string:
    case Value::Kind::bytes:
      return static_cast<std::uint64_t>(static_cast<double>(value.text().size()) * kTraversal);
    case Value::Kind::list: {
      std::uint64_t sum = 0;
      for (std::size_t i = 0, size = *size_of(value); i < size && !allowance.over(); ++i) {
        sum += traversal(element(value, i), allowance);
      }
      return sum;
    }
    case Value::Kind::map: {
      std::uint64_t sum = 0;
      for (const auto& key : keys(value)) {
        if (allowance.over()) break;
        sum +=
            traversal(key, allowance) + traversal(entry(value, key).value_or(Value()), allowance);
      }
      return sum;
    }
    default: return 1;
  }
}

// As Go on amd64 does it where the number does not fit: a depth may be negative, or beyond
// counting.
std::uint64_t whole(double exact) {
  constexpr double kHalf = 9223372036854775808.0;
  if (exact >= 2 * kHalf) return 0;
  if (exact >= 0) return static_cast<std::uint64_t>(exact);
  return exact > -kHalf ? 0 - static_cast<std::uint64_t>(-exact) : std::uint64_t{1} << 63U;
}

std::uint64_t made_list(double factor, std::uint64_t size) {
  return whole(static_cast<double>(size) * factor) + 1 + kListCost;
}

std::uint64_t compared(const Value& list) {
  const auto size = size_or_one(list);
  double factor = 2;
  if (list.is(Value::Kind::list) && size > 0) {
    const Value first = element(list, 0);
    if (first.is(Value::Kind::string) || first.is(Value::Kind::bytes)) factor += kTraversal;
  }
  return made_list(factor, size * size);
}

std::uint64_t matching(std::uint64_t text, std::uint64_t pattern) {
  return static_cast<std::uint64_t>(std::ceil((1.0 + static_cast<double>(text)) * kTraversal)) *
         scaled(pattern, kPattern);
}

using Charges = std::map<std::string_view, Charge>;

const Charges& by_function() {
  static const Charges kCharges = [] {
    Charges out;
    const auto set = [&out](Charge charge, std::initializer_list<std::string_view> names) {
      for (const auto name : names) out[name] = charge;
    };
    set(Charge::traverse_list, {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"});
    set(Charge::first, {"url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP",
                        "isCIDR", "quantity", "isQuantity", "semver", "isSemver"});
    set(Charge::first_twice, {"replace", "split", "ip.isCanonical"});
    set(Charge::result_twice, {"join"});
    set(Charge::pattern, {"find", "findAll"});
    set(Charge::format, {"validate"});
    return out;
  }();
  return kCharges;
}

const Charges& by_overload() {
  static const Charges kCharges = {{"starts_with_string", Charge::first},
                                   {"ends_with_string", Charge::first},
                                   {"string_to_bytes", Charge::first},
                                   {"bytes_to_string", Charge::first},
                                   {"strings_quote", Charge::first},
                                   {"string_format", Charge::first},
                                   {"in_list", Charge::second_size},
                                   {"equals", Charge::shorter},
                                   {"not_equals", Charge::shorter},
                                   {"add_string", Charge::both},
                                   {"add_bytes", Charge::both},
                                   {"matches_string", Charge::pattern},
                                   {"contains_string", Charge::product},
                                   {"string_to_ip", Charge::first},
                                   {"cidr_contains_ip_string", Charge::network_text},
                                   {"cidr_contains_ip_ip", Charge::network},
                                   {"cidr_contains_cidr_string", Charge::subnet_text},
                                   {"cidr_contains_cidr", Charge::subnet},
                                   {"list_sets_contains_list", Charge::sets},
                                   {"list_sets_intersects_list", Charge::sets},
                                   {"list_sets_equivalent_list", Charge::sets_twice},
                                   {"list_slice", Charge::output},
                                   {"lists_range", Charge::output},
                                   {"list_reverse", Charge::output},
                                   {"list_flatten", Charge::flatten},
                                   {"list_flatten_int", Charge::flatten},
                                   {"list_distinct", Charge::compare_first}};
  return kCharges;
}

}  // namespace

Charge charge_of(std::string_view function, const std::vector<const Overload*>& overloads) {
  if (const auto found = by_function().find(function); found != by_function().end()) {
    return found->second;
  }
  if (overloads.size() != 1) return Charge::one;
  const std::string_view id = overloads[0]->id;
  if (const auto found = by_overload().find(id); found != by_overload().end()) {
    return found->second;
  }
  if (function == "sort") return Charge::compare_first;
  if (function == "@sortByAssociatedKeys") return Charge::compare_second;
  const bool order = id.starts_with("less_") || id.starts_with("greater_");
  if (order && (id.ends_with("_string") || id.ends_with("_bytes"))) return Charge::shorter;
  return Charge::one;
}

bool looks_at_result(Charge charge) {
  return charge == Charge::result_twice || charge == Charge::output;
}

std::uint64_t call_cost(Charge charge, std::span<const Value> a, const Value* result,
                        Allowance& allowance) {
  switch (charge) {
    case Charge::none: return 0;
    case Charge::one: return 1;
    case Charge::traverse_list: return traversal(a[0], allowance);
    case Charge::first: return scaled(size_or_one(a[0]), kTraversal);
    case Charge::first_twice: return scaled(size_or_one(a[0]), 2 * kTraversal);
    case Charge::result_twice: return scaled(size_or_one(*result), 2 * kTraversal);
    case Charge::pattern: return matching(size_or_one(a[0]), size_or_one(a[1]));
    case Charge::product:
      return scaled(size_or_one(a[0]), kTraversal) * scaled(size_or_one(a[1]), kTraversal);
    case Charge::both: return scaled(size_or_one(a[0]) + size_or_one(a[1]), kTraversal);
    case Charge::shorter: return scaled(std::min(size_or_one(a[0]), size_or_one(a[1])), kTraversal);
    case Charge::second_size: return size_or_one(a[1]);
    case Charge::network: return scaled(2 * size_or_one(a[0]), kTraversal);
    case Charge::network_text:
      return scaled(2 * size_or_one(a[0]), kTraversal) + scaled(size_or_one(a[1]), kTraversal);
    case Charge::subnet:
    case Charge::subnet_text:
      return scaled(2 * size_or_one(a[0]), kTraversal) + scaled(size_or_one(a[0]), kTraversal) + 1 +
             (charge == Charge::subnet ? 0 : scaled(size_or_one(a[1]), kTraversal));
    case Charge::format:
      return matching(size_or_one(a[1]),
                      a[0].is(Value::Kind::format) ? a[0].as<Format>().regex_size() : 1);
    case Charge::sets: return 1 + size_or_one(a[0]) * size_or_one(a[1]);
    case Charge::sets_twice: return 1 + 2 * size_or_one(a[0]) * size_or_one(a[1]);
    case Charge::output: return made_list(1, size_or_one(*result));
    case Charge::flatten:
      return made_list(a.size() == 2 ? static_cast<double>(a[1].as_int()) : 1, size_or_one(a[0]));
    case Charge::compare_first: return compared(a[0]);
    case Charge::compare_second: return compared(a[1]);
  }
  return 1;
}

}  // namespace kubewatch::cel
