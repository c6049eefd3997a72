// Lists, sets and what macros do with maps.
#include <algorithm>
#include <array>

#include "cel/functions.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

// None when nothing is left of the allowance: what is made of them does not count then.
std::vector<Value> items_of(const Value& list, Allowance& allowance) {
  std::vector<Value> items;
  const std::size_t size = *size_of(list);
  if (!allowance.items(size)) return items;
  items.reserve(size);
  for (std::size_t i = 0; i < size; ++i) items.push_back(element(list, i));
  return items;
}

Value is_sorted(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  const std::size_t size = *size_of(a[0]);
  for (std::size_t i = 1; i < size; ++i) {
    const auto order = compare(element(a[0], i - 1), element(a[0], i));
    if (!order) return Value::no_such_overload();
    if (*order > 0) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value sum(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  const std::size_t size = *size_of(a[0]);
  if (size == 0) return Value::integer(0);  // of other types: see the evaluator
  const auto add = find_implementation("_+_");
  Value total = element(a[0], 0);
  for (std::size_t i = 1; i < size && !total.is_error(); ++i) {
    std::array<Value, 2> pair = {std::move(total), element(a[0], i)};
    if (pair[1].is_error()) return pair[1];
    total = add(pair, prepared);
  }
  return total;
}

template <int kWanted>
Value extreme(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  const std::size_t size = *size_of(a[0]);
  if (size == 0)
    return Value::error(kWanted < 0 ? "min called on empty list" : "max called on empty list");
  Value best = element(a[0], 0);
  for (std::size_t i = 1; i < size; ++i) {
    Value next = element(a[0], i);
    const auto order = compare(next, best);
    if (!order) return next.is_error() ? next : Value::no_such_overload();
    if (*order == kWanted) best = std::move(next);
  }
  return best;
}

Value slice(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list) || !a[1].is(Kind::integer) || !a[2].is(Kind::integer)) {
    return Value::no_such_overload();
  }
  const auto from = a[1].as_int(), to = a[2].as_int();
  const auto size = static_cast<std::int64_t>(*size_of(a[0]));
  const std::string what =
      "cannot slice(" + std::to_string(from) + ", " + std::to_string(to) + "), ";
  if (from < 0 || to < 0) return Value::error(what + "negative indexes not supported");
  if (from > to) {
    return Value::error(what + "start index must be less than or equal to end index");
  }
  if (size < to) return Value::error(what + "list is length " + std::to_string(size));
  if (!prepared.allowance->items(static_cast<std::size_t>(to - from))) return Value::cancelled();
  std::vector<Value> out;
  for (auto i = from; i < to; ++i) out.push_back(element(a[0], static_cast<std::size_t>(i)));
  return list(std::move(out));
}

void flatten_into(std::vector<Value>& out, const Value& from, std::int64_t depth,
                  Allowance& allowance) {
  for (std::size_t i = 0, size = *size_of(from); i < size && allowance.items(1); ++i) {
    Value item = element(from, i);
    if (depth > 0 && item.is(Kind::list)) {
      flatten_into(out, item, depth - 1, allowance);
    } else {
      out.push_back(std::move(item));
    }
  }
}

Value flatten(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list) || (a.size() == 2 && !a[1].is(Kind::integer))) {
    return Value::no_such_overload();
  }
  const std::int64_t depth = a.size() == 2 ? a[1].as_int() : 1;
  if (depth < 0) return Value::error("level must be non-negative");
  std::vector<Value> out;
  flatten_into(out, a[0], depth, *prepared.allowance);
  return list(std::move(out));
}

Value sort_by_keys(Arguments a, const Prepared& prepared) {
  const Value& by = a.back();
  if (!a[0].is(Kind::list) || !by.is(Kind::list)) return Value::no_such_overload();
  const auto items = items_of(a[0], *prepared.allowance);
  const auto keys = items_of(by, *prepared.allowance);
  if (items.size() != keys.size()) {
    return Value::error(
        "@sortByAssociatedKeys() expected a list of the same size as the associated "
        "keys list, but got " +
        std::to_string(items.size()) + " and " + std::to_string(keys.size()) +
        " elements respectively");
  }
  for (const auto& key : keys) {
    if (key.is_error()) return key;
    if (key.kind() != keys[0].kind()) {
      return Value::error("list elements must have the same type");
    }
    if (!compare(key, key)) return Value::error("list elements must be comparable");
  }
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&keys](std::size_t left, std::size_t right) {
    return compare(keys[left], keys[right]).value_or(0) < 0;
  });
  std::vector<Value> out;
  for (const auto i : order) out.push_back(items[i]);
  return list(std::move(out));
}

Value range(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::integer)) return Value::no_such_overload();
  if (a[0].as_int() > 1000000) return Value::error("lists.range() is limited to 1000000 elements");
  std::vector<Value> out;
  for (std::int64_t i = 0; i < a[0].as_int(); ++i) out.push_back(Value::integer(i));
  return list(std::move(out));
}

Value reverse(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  auto items = items_of(a[0], *prepared.allowance);
  std::reverse(items.begin(), items.end());
  return list(std::move(items));
}

bool has(const std::vector<Value>& items, const Value& wanted, Allowance& allowance) {
  return std::any_of(items.begin(), items.end(),
                     [&](const Value& item) { return equals(wanted, item, allowance).is_true(); });
}

Value distinct(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list)) return Value::no_such_overload();
  std::vector<Value> out;
  for (auto& item : items_of(a[0], *prepared.allowance)) {
    if (!has(out, item, *prepared.allowance)) out.push_back(std::move(item));
  }
  return list(std::move(out));
}

bool includes(const Value& all, const Value& some, Allowance& allowance) {
  const auto items = items_of(all, allowance);
  for (const auto& item : items_of(some, allowance)) {
    if (!has(items, item, allowance)) return false;
  }
  return true;
}

template <bool kBothWays>
Value set_contains(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list) || !a[1].is(Kind::list)) return Value::no_such_overload();
  Allowance& allowance = *prepared.allowance;
  return Value::boolean(includes(a[0], a[1], allowance) &&
                        (!kBothWays || includes(a[1], a[0], allowance)));
}

Value set_intersects(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list) || !a[1].is(Kind::list)) return Value::no_such_overload();
  const auto items = items_of(a[1], *prepared.allowance);
  for (const auto& item : items_of(a[0], *prepared.allowance)) {
    if (has(items, item, *prepared.allowance)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

std::string shown_key(const Value& key) {
  return text_of(key).value_or("?");
}

// A map with an entry more, or with all entries of another.
Value map_insert(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::map) || (a.size() == 2 && !a[1].is(Kind::map))) {
    return Value::no_such_overload();
  }
  MapObject* own = a[0].json() == nullptr ? a[0].owned<MapObject>() : nullptr;
  Value out = a[0];
  if (own == nullptr) {
    own = new MapObject;
    out = map(own);
    for (const auto& key : keys(a[0])) own->insert(key, *entry(a[0], key));
  }
  const auto insert = [own](const Value& key, const Value& value) {
    return own->insert(key, value)
               ? Value()
               : Value::error("insert failed: key " + shown_key(key) + " already exists");
  };
  if (a.size() == 3) {
    Value failed = insert(a[1], a[2]);
    return failed.is_error() ? failed : out;
  }
  for (const auto& key : keys(a[1])) {
    Value failed = insert(key, *entry(a[1], key));
    if (failed.is_error()) return failed;
  }
  return out;
}

constexpr NamedImplementation kTable[] = {
    {"isSorted", is_sorted},
    {"sum", sum},
    {"min", extreme<-1>},
    {"max", extreme<1>},
    {"slice", slice},
    {"flatten", flatten},
    {"sort", sort_by_keys},
    {"@sortByAssociatedKeys", sort_by_keys},
    {"lists.range", range},
    {"reverse", reverse},
    {"distinct", distinct},
    {"sets.contains", set_contains<false>},
    {"sets.equivalent", set_contains<true>},
    {"sets.intersects", set_intersects},
    {"cel.@mapInsert", map_insert},
};

}  // namespace

std::span<const NamedImplementation> list_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
