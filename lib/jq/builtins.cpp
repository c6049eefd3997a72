// Builtins that evaluate their arguments themselves: map, select, any, range, limit and so on.
#include "jq/builtins.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "jq/access.hpp"
#include "jq/arithmetic.hpp"
#include "jq/number.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

namespace {

bool argument(Evaluator& e, const Call& c, std::size_t i, const Json& input, Sink sink) {
  return e.eval(*c.node.kids[i], input, c.scope, sink);
}

// Each item of the input, after the check that it has any.
bool each(Evaluator& e, const Json& input, Sink sink) {
  const auto iterable = check_iterable(input);
  if (!iterable.ok()) return e.raise(iterable.error());
  for (const Json& item : input) {
    if (!sink(item)) return false;
  }
  return true;
}

bool empty(Evaluator&, const Call&) {
  return true;
}
bool error_input(Evaluator& e, const Call& c) {
  return e.raise_value(c.input);
}
bool error_argument(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input, [&](const Json& v) { return e.raise_value(v); });
}

bool select(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input,
                  [&](const Json& v) { return !is_truthy(v) || c.sink(c.input); });
}

// [.[] | f], charged as it grows. Absent when evaluation ended.
std::optional<Json> mapped(Evaluator& e, const Call& c, const Json& input) {
  Json out = Json::array();
  const bool done = each(e, input, [&](const Json& item) {
    return argument(e, c, 0, item, [&](const Json& v) {
      if (!e.charge(cost_of(v))) return false;
      out.push_back(v);
      return true;
    });
  });
  if (!done) return std::nullopt;
  return out;
}

bool map(Evaluator& e, const Call& c) {
  const auto out = mapped(e, c, c.input);
  return out && c.sink(*out);
}

bool with_entries(Evaluator& e, const Call& c) {
  const auto entries = to_entries(c.input);
  if (!entries.ok()) return e.raise(entries.error());
  const auto out = mapped(e, c, *entries);
  return out && e.emit(from_entries(*out), c.sink);
}

// The first output of argument 0; done tells whether evaluation may go on.
struct First {
  std::optional<Json> value;
  bool done = true;
};

First first_output(Evaluator& e, const Call& c, const Json& input) {
  First out;
  out.done = argument(e, c, 0, input, [&](const Json& v) {
    out.value = v;
    e.charge(cost_of(v));
    return false;
  });
  if (out.value && !e.failed()) out.done = true;
  return out;
}

// .[] |= f as jq 1.6 does it: a removed element moves the rest up while the positions stay.
bool map_array_values(Evaluator& e, const Call& c) {
  Json out = c.input;
  for (std::size_t i = 0; i < c.input.size(); ++i) {
    const Json current = i < out.size() ? out[i] : Json();
    First first = first_output(e, c, current);
    if (!first.done) return false;
    if (first.value) {
      out[i] = *std::move(first.value);
    } else if (i < out.size()) {
      out.erase(i);
    }
  }
  return e.charge(cost_of(out)) && c.sink(out);
}

bool map_values(Evaluator& e, const Call& c) {
  const auto iterable = check_iterable(c.input);
  if (!iterable.ok()) return e.raise(iterable.error());
  if (c.input.is_array()) return map_array_values(e, c);
  Json out = Json::object();
  for (const auto& [key, value] : c.input.items()) {
    First first = first_output(e, c, value);
    if (!first.done) return false;
    if (first.value) out[key] = *std::move(first.value);
  }
  return e.charge(cost_of(out)) && c.sink(out);
}

// Keys [f] of every item, for the *_by functions.
std::optional<Json> keys_by(Evaluator& e, const Call& c) {
  Json keys = Json::array();
  const bool done = each(e, c.input, [&](const Json& item) {
    Json key = Json::array();
    const bool inner = argument(e, c, 0, item, [&](const Json& v) {
      if (!e.charge(cost_of(v))) return false;
      key.push_back(v);
      return true;
    });
    keys.push_back(std::move(key));
    return inner;
  });
  if (!done) return std::nullopt;
  return keys;
}

template <class Make>
bool by(Evaluator& e, const Call& c, std::string_view what, Make make) {
  const auto keys = keys_by(e, c);
  if (!keys) return false;
  if (!c.input.is_array()) return e.raise(type_error(c.input, *keys, what));
  return e.emit(make(c.input, *keys), c.sink);
}

bool sort_by(Evaluator& e, const Call& c) {
  return by(e, c, "cannot be sorted, as they are not both arrays", sorted_by);
}

bool group_by(Evaluator& e, const Call& c) {
  return by(e, c, "cannot be sorted, as they are not both arrays", grouped_by);
}

bool unique_by(Evaluator& e, const Call& c) {
  return by(e, c, "cannot be sorted, as they are not both arrays",
            [](const Json& values, const Json& keys) {
              Json out = Json::array();
              for (const Json& group : grouped_by(values, keys)) out.push_back(group[0]);
              return out;
            });
}

bool min_by(Evaluator& e, const Call& c) {
  return by(e, c, "cannot be iterated over",
            [](const Json& v, const Json& k) { return extreme_by(v, k, false); });
}

bool max_by(Evaluator& e, const Call& c) {
  return by(e, c, "cannot be iterated over",
            [](const Json& v, const Json& k) { return extreme_by(v, k, true); });
}

// any and all as jq 1.6 defines them, a foreach whose state is lost when the condition has no
// output.
class Quantifier {
 public:
  explicit Quantifier(bool is_any) : is_any_(is_any), state_(!is_any) {}

  // One item; `condition` runs it through the program. False: stop.
  template <class Condition>
  bool take(Condition condition) {
    if (is_any_ ? state_ : !state_) {
      decided_ = true;
      return false;
    }
    const bool before = state_;
    state_ = false;
    return condition([this, before](const Json& v) {
      state_ = is_any_ ? is_truthy(v) || before : is_truthy(v) && before;
      if (state_ == is_any_) ++hits_;
      return true;
    });
  }
  bool decided() const { return decided_; }
  bool answer() const { return is_any_ ? hits_ == 1 : hits_ == 0; }

 private:
  bool is_any_;
  bool state_;
  bool decided_ = false;
  std::size_t hits_ = 0;
};

// `condition` is the index of the argument, or none for the item itself.
bool quantify(Evaluator& e, const Call& c, bool is_any, bool own_items,
              std::optional<std::size_t> condition) {
  Quantifier quantifier(is_any);
  const auto take = [&](const Json& item) {
    return quantifier.take([&](auto&& look) {
      return condition ? argument(e, c, *condition, item, look) : look(item);
    });
  };
  const bool done = own_items ? each(e, c.input, take) : argument(e, c, 0, c.input, take);
  if (!done && !quantifier.decided()) return false;
  if (e.failed()) return false;
  return c.sink(Json(quantifier.answer()));
}

bool any0(Evaluator& e, const Call& c) {
  return quantify(e, c, true, true, std::nullopt);
}
bool any1(Evaluator& e, const Call& c) {
  return quantify(e, c, true, true, 0);
}
bool any2(Evaluator& e, const Call& c) {
  return quantify(e, c, true, false, 1);
}
bool all0(Evaluator& e, const Call& c) {
  return quantify(e, c, false, true, std::nullopt);
}
bool all1(Evaluator& e, const Call& c) {
  return quantify(e, c, false, true, 0);
}
bool all2(Evaluator& e, const Call& c) {
  return quantify(e, c, false, false, 1);
}

bool first(Evaluator& e, const Call& c) {
  const First out = first_output(e, c, c.input);
  if (!out.done) return false;
  return !out.value || c.sink(*out.value);
}

bool last(Evaluator& e, const Call& c) {
  Json value;
  const bool done = argument(e, c, 0, c.input, [&](const Json& v) {
    value = v;
    return e.charge(cost_of(v));
  });
  return done && c.sink(value);
}

// As jq 1.6: negative is no limit, and the first output comes before the count is looked at.
bool limit(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input, [&](const Json& count) {
    if (compare(count, Json(0)) < 0) return argument(e, c, 1, c.input, c.sink);
    Json left = count;
    bool reached = false;
    const bool done = argument(e, c, 1, c.input, [&](const Json& v) {
      auto less = calculate(Operator::subtract, left, Json(1));
      if (!less.ok()) return e.raise(less.error());
      left = *std::move(less);
      if (!c.sink(v)) return false;
      reached = compare(left, Json(0)) <= 0;
      return !reached;
    });
    return done || (reached && !e.failed());
  });
}

bool count_up(Evaluator& e, const Json& from, const Json& to, const Json& by, Sink sink) {
  if (!from.is_number() || !to.is_number() || !by.is_number()) {
    return e.raise(Error(ErrorKind::invalid, "Range bounds must be numeric"));
  }
  const int direction = compare_numbers(by, Json(0));
  if (direction == 0) return true;
  for (Json at = from; compare_numbers(at, to) * direction < 0; at = add_numbers(at, by)) {
    if (!e.step() || !sink(at)) return false;
    // A step too small for a double to notice would never end.
    if (compare_numbers(add_numbers(at, by), at) == 0) return e.charge(std::size_t{1} << 40U);
  }
  return true;
}

bool range1(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input,
                  [&](const Json& to) { return count_up(e, Json(0), to, Json(1), c.sink); });
}

bool range2(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input, [&](const Json& from) {
    return argument(e, c, 1, c.input,
                    [&](const Json& to) { return count_up(e, from, to, Json(1), c.sink); });
  });
}

bool range3(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input, [&](const Json& from) {
    return argument(e, c, 1, c.input, [&](const Json& to) {
      return argument(e, c, 2, c.input,
                      [&](const Json& by) { return count_up(e, from, to, by, c.sink); });
    });
  });
}

bool in(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input,
                  [&](const Json& v) { return e.emit(has_key(v, c.input), c.sink); });
}

bool inside(Evaluator& e, const Call& c) {
  return argument(e, c, 0, c.input,
                  [&](const Json& v) { return e.emit(contains(v, c.input), c.sink); });
}

bool pass_if(const Call& c, bool condition) {
  return !condition || c.sink(c.input);
}
bool values(Evaluator&, const Call& c) {
  return pass_if(c, !c.input.is_null());
}
bool nulls(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_null());
}
bool strings(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_string());
}
bool numbers(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_number());
}
bool booleans(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_boolean());
}
bool arrays(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_array());
}
bool objects(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_object());
}
bool iterables(Evaluator&, const Call& c) {
  return pass_if(c, c.input.is_structured());
}
bool scalars(Evaluator&, const Call& c) {
  return pass_if(c, !c.input.is_structured());
}

constexpr Builtin kClosures[] = {
    {"empty", 0, nullptr, empty},
    {"error", 0, nullptr, error_input},
    {"error", 1, nullptr, error_argument, 1},
    {"select", 1, nullptr, select, 1, true},
    {"map", 1, nullptr, map},
    {"map_values", 1, nullptr, map_values},
    {"with_entries", 1, nullptr, with_entries},
    {"sort_by", 1, nullptr, sort_by},
    {"group_by", 1, nullptr, group_by},
    {"unique_by", 1, nullptr, unique_by},
    {"min_by", 1, nullptr, min_by},
    {"max_by", 1, nullptr, max_by},
    {"any", 0, nullptr, any0},
    {"any", 1, nullptr, any1},
    {"any", 2, nullptr, any2, 1},
    {"all", 0, nullptr, all0},
    {"all", 1, nullptr, all1},
    {"all", 2, nullptr, all2, 1},
    {"first", 1, nullptr, first, 1},
    {"last", 1, nullptr, last, 1},
    {"limit", 2, nullptr, limit, 2},
    {"range", 1, nullptr, range1, 1},
    {"range", 2, nullptr, range2, 2},
    {"range", 3, nullptr, range3, 3},
    {"in", 1, nullptr, in, 1},
    {"inside", 1, nullptr, inside, 1},
    {"values", 0, nullptr, values, 0, true},
    {"nulls", 0, nullptr, nulls, 0, true},
    {"strings", 0, nullptr, strings, 0, true},
    {"numbers", 0, nullptr, numbers, 0, true},
    {"booleans", 0, nullptr, booleans, 0, true},
    {"arrays", 0, nullptr, arrays, 0, true},
    {"objects", 0, nullptr, objects, 0, true},
    {"iterables", 0, nullptr, iterables, 0, true},
    {"scalars", 0, nullptr, scalars, 0, true},
};

std::vector<std::size_t> order_of(const Json& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return compare(keys[a], keys[b]) < 0; });
  return order;
}

}  // namespace

Json sorted_by(const Json& values, const Json& keys) {
  Json out = Json::array();
  for (const std::size_t i : order_of(keys)) out.push_back(values[i]);
  return out;
}

Json grouped_by(const Json& values, const Json& keys) {
  Json out = Json::array();
  const Json* last_key = nullptr;
  for (const std::size_t i : order_of(keys)) {
    if (last_key == nullptr || compare(*last_key, keys[i]) != 0) out.push_back(Json::array());
    out.back().push_back(values[i]);
    last_key = &keys[i];
  }
  return out;
}

Json extreme_by(const Json& values, const Json& keys, bool largest) {
  if (values.empty()) return nullptr;
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const int order = compare(keys[i], keys[best]);
    if (largest ? order >= 0 : order < 0) best = i;
  }
  return values[best];
}

const Builtin* find_closure_builtin(std::string_view name, std::size_t arity) {
  const auto it = std::find_if(std::begin(kClosures), std::end(kClosures), [&](const Builtin& b) {
    return b.name == name && b.arity == arity;
  });
  return it == std::end(kClosures) ? nullptr : it;
}

const Builtin* find_builtin(std::string_view name, std::size_t arity) {
  const Builtin* found = find_plain_builtin(name, arity);
  return found != nullptr ? found : find_closure_builtin(name, arity);
}

}  // namespace kubewatch::jq
