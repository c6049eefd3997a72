#include "cel/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/parser.hpp"
#include "cel/plan.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Op = Step::Op;

constexpr std::size_t kFewArguments = 4;

// One run. Cheap to make: two arrays of values.
class Evaluation {
 public:
  Evaluation(const Plan& plan, std::span<const Value> variables, std::uint64_t limit,
             Allowance allowance)
      : plan_(plan), slots_(plan.slots()), limit_(limit), allowance_(allowance) {
    std::copy(variables.begin(), variables.end(), slots_.begin());
  }

  Program::Outcome run() {
    Program::Outcome out;
    out.value = eval(plan_.root());
    out.cost = cost_;
    out.used = allowance_.used();
    out.too_costly = stopped_;
    if (stopped_) {
      out.value = Value::error("operation cancelled: actual cost limit exceeded");
    }
    return out;
  }

 private:
  void charge(std::uint64_t amount) {
    cost_ = add_bounded(cost_, amount);
    // To a user the one is as good as the other: an API server has a cost alone.
    if (cost_ > limit_ || allowance_.over()) stopped_ = true;
  }

  Value eval(std::uint32_t index) {
    const Step& step = plan_.step(index);
    if (stopped_) return Value::cancelled();
    switch (step.op) {
      case Op::constant: return step.constant;
      case Op::variable: charge(1); return slots_[step.slot];
      case Op::take: charge(1); return std::exchange(slots_[step.slot], Value());
      case Op::field:
      case Op::optional_field: return field(step);
      case Op::has_field: return has_field(step);
      case Op::index:
      case Op::optional_index: return indexed(step);
      case Op::call: return call(step);
      case Op::logical_and: return logical(step, false);
      case Op::logical_or: return logical(step, true);
      case Op::conditional: return conditional(step);
      case Op::not_strictly_false: {
        charge(1);
        return Value::boolean(!eval(step.parts[0]).is_false());
      }
      case Op::list: return list_literal(step);
      case Op::map: return map_literal(step);
      case Op::fold: return fold(step);
      case Op::bind: {
        slots_[step.slot] = eval(step.parts[0]);
        return eval(step.parts[1]);
      }
      case Op::or_value:
      case Op::or_optional: return or_else(step);
    }
    return Value();
  }

  static Value no_such_key(const Value& key) {
    return Value::error("no such key: " + text_of(key).value_or(std::string(key.type_name())));
  }

  // Of a map; absent when it has none.
  static std::optional<Value> member(const Value& operand, const Value& key) {
    if (!operand.is(Kind::map)) return Value::no_such_overload();
    return entry(operand, key);
  }

  // An optional is looked into: what is in it, or null when nothing is.
  static const Value* inside(const Value& value) {
    return value.is(Kind::optional) ? held(value) : &value;
  }

  Value field(const Step& step) {
    const Value operand = eval(step.parts[0]);
    charge(step.on_name ? 1 : 2);
    if (operand.is_error()) return operand;
    const bool optional = step.op == Op::optional_field || operand.is(Kind::optional);
    const Value* from = inside(operand);
    if (from == nullptr) return Value::none();
    auto found = member(*from, step.constant);
    if (found && found->is_error()) return *found;
    if (optional) return found ? Value::some(std::move(*found)) : Value::none();
    return found ? std::move(*found) : no_such_key(step.constant);
  }

  Value has_field(const Step& step) {
    const Value operand = eval(step.parts[0]);
    if (operand.is_error()) return operand;
    const Value* from = inside(operand);
    if (from == nullptr) return Value::boolean(false);
    const auto found = member(*from, step.constant);
    if (found && found->is_error()) return *found;
    return Value::boolean(found.has_value());
  }

  // The place in a list; absent when the value is no whole number.
  static std::optional<std::int64_t> place(const Value& index) {
    if (index.is(Kind::integer)) return index.as_int();
    if (index.is(Kind::uinteger) && index.as_int() >= 0) return index.as_int();
    if (index.is(Kind::real) && std::trunc(index.as_real()) == index.as_real() &&
        std::abs(index.as_real()) < 9e15) {
      return static_cast<std::int64_t>(index.as_real());
    }
    return std::nullopt;
  }

  Value indexed(const Step& step) {
    const Value operand = eval(step.parts[0]);
    const Value index = eval(step.parts[1]);
    charge(step.on_name ? 1 : 2);
    if (operand.is_error()) return operand;
    if (index.is_error()) return index;
    const bool optional = step.op == Op::optional_index || operand.is(Kind::optional);
    const Value* from = inside(operand);
    if (from == nullptr) return Value::none();
    std::optional<Value> found;
    if (from->is(Kind::list)) {
      const auto at = place(index);
      if (!at) {
        return Value::error("unsupported index value " +
                            text_of(index).value_or(std::string(index.type_name())) + " in list");
      }
      if (*at >= 0 && static_cast<std::uint64_t>(*at) < *size_of(*from)) {
        found = element(*from, static_cast<std::size_t>(*at));
      } else if (!optional) {
        return Value::error("index out of bounds: " + std::to_string(*at));
      }
    } else {
      found = member(*from, index);
    }
    if (found && found->is_error()) return *found;
    if (optional) return found ? Value::some(std::move(*found)) : Value::none();
    return found ? std::move(*found) : no_such_key(index);
  }

  Value call(const Step& step) {
    if (step.parts.size() > kFewArguments || step.run == nullptr) return Value::no_such_overload();
    std::array<Value, kFewArguments> room;
    const std::span<Value> arguments(room.data(), step.parts.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arguments[i] = eval(step.parts[i]);
    }
    if (stopped_) return Value::cancelled();
    for (auto& argument : arguments) {
      if (!argument.is_error()) continue;
      charge(1);
      return std::move(argument);
    }
    const bool later = looks_at_result(step.charge);
    if (!later) charge(call_cost(step.charge, arguments, nullptr, allowance_));
    if (stopped_) return Value::cancelled();
    if (!step.constant.is(Kind::null) && size_of(arguments[0]) == 0U) return step.constant;
    Value result = step.run(arguments, {step.prepared.regex, &allowance_});
    if (later) {
      charge(result.is_error() ? 1 : call_cost(step.charge, arguments, &result, allowance_));
    }
    if (allowance_.over()) stopped_ = true;
    return result;
  }

  // The side that decides wins over an error on the other.
  Value logical(const Step& step, bool decides) {
    Value left = eval(step.parts[0]);
    if (left.is(Kind::boolean) && left.as_bool() == decides) return left;
    Value right = eval(step.parts[1]);
    if (right.is(Kind::boolean) && right.as_bool() == decides) return right;
    if (left.is_error()) return left;
    if (right.is_error()) return right;
    if (!left.is(Kind::boolean) || !right.is(Kind::boolean)) return Value::no_such_overload();
    return Value::boolean(!decides);
  }

  Value conditional(const Step& step) {
    Value condition = eval(step.parts[0]);
    if (condition.is_error()) return condition;
    if (!condition.is(Kind::boolean)) return Value::no_such_overload();
    return eval(step.parts[condition.as_bool() ? 1 : 2]);
  }

  Value or_else(const Step& step) {
    Value left = eval(step.parts[0]);
    if (left.is_error()) return left;
    if (!left.is(Kind::optional)) return Value::no_such_overload();
    if (held(left) == nullptr) return eval(step.parts[1]);
    return step.op == Op::or_value ? *held(left) : left;
  }

  // An element written with '?': what is in it, or nothing.
  static std::optional<Value> unwrapped(const Value& value) {
    if (!value.is(Kind::optional)) {
      return Value::error("cannot initialize optional list element from non-optional value");
    }
    return held(value) == nullptr ? std::nullopt : std::optional(*held(value));
  }

  Value list_literal(const Step& step) {
    std::vector<Value> items;
    items.reserve(step.parts.size());
    for (std::size_t i = 0; i < step.parts.size(); ++i) {
      std::optional<Value> item = eval(step.parts[i]);
      if (!item->is_error() && step.has_optional && step.optional[i]) item = unwrapped(*item);
      if (item && item->is_error()) return *item;
      if (item) items.push_back(std::move(*item));
    }
    charge(kListCost);
    return list(std::move(items));
  }

  Value map_literal(const Step& step) {
    auto* object = new MapObject;
    const Value out = map(object);
    for (std::size_t i = 0; i + 1 < step.parts.size(); i += 2) {
      const Value key = eval(step.parts[i]);
      if (key.is_error()) return key;
      std::optional<Value> value = eval(step.parts[i + 1]);
      if (!value->is_error() && step.has_optional && step.optional[i / 2]) {
        value = unwrapped(*value);
      }
      if (value && value->is_error()) return *value;
      if (key.is(Kind::list) || key.is(Kind::map) || key.is(Kind::null) || key.is(Kind::bytes)) {
        return Value::error("unsupported key type");
      }
      if (value) object->insert(key, std::move(*value));
    }
    charge(kMapCost);
    return out;
  }

  // One element: false when the loop ends here.
  bool turn(const Step& step, Value first, Value second) {
    slots_[step.first] = std::move(first);
    if (step.two) slots_[step.first + 1] = std::move(second);
    const Value going_on = eval(step.parts[2]);
    if (!going_on.is_true()) return false;
    Value next = eval(step.parts[3]);
    slots_[step.slot] = std::move(next);
    return !stopped_;
  }

  Value fold(const Step& step) {
    const Value range = eval(step.parts[0]);
    if (range.is_error()) return range;
    if (!range.is(Kind::list) && !range.is(Kind::map)) return Value::no_such_overload();
    slots_[step.slot] = eval(step.parts[1]);
    if (range.is(Kind::list)) {
      for (std::size_t i = 0, size = *size_of(range); i < size; ++i) {
        Value item = element(range, i);
        Value number = step.two ? Value::integer(static_cast<std::int64_t>(i)) : Value();
        if (!(step.two ? turn(step, std::move(number), std::move(item))
                       : turn(step, std::move(item), Value()))) {
          break;
        }
      }
    } else {
      for (auto& key : keys(range)) {
        Value value = step.two ? entry(range, key).value_or(Value()) : Value();
        if (!turn(step, std::move(key), std::move(value))) break;
      }
    }
    return eval(step.parts[4]);
  }

  const Plan& plan_;
  std::vector<Value> slots_;
  const std::uint64_t limit_;
  Allowance allowance_;
  std::uint64_t cost_ = 0;
  bool stopped_ = false;
};

void collect_names(const Expr& node, std::vector<std::string>& out,
                   std::unordered_map<const Expr*, bool>& seen) {
  if (!seen.emplace(&node, true).second) return;
  if (node.kind == Expr::Kind::ident) out.push_back(node.name);
  if (node.target != nullptr) collect_names(*node.target, out, seen);
  for (const Expr* part : node.parts) collect_names(*part, out, seen);
}

}  // namespace

Program::Program(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}
Program::~Program() = default;

Program::Outcome Program::run(std::span<const Value> variables, std::uint64_t limit,
                              Allowance allowance) const {
  return Evaluation(*plan_, variables, limit, allowance).run();
}

bool Compiled::uses(std::string_view variable) const {
  return std::find(mentions.begin(), mentions.end(), variable) != mentions.end();
}

Result<Compiled> compile(std::string_view source, const std::vector<Variable>& variables,
                         const DataType& root) {
  Issues issues(source);
  const auto failed = [&issues] { return Error(ErrorKind::invalid, issues.render()); };
  Ast ast = parse(source, issues);
  if (!issues.empty()) return failed();
  Compiled out;
  out.type = check(ast, variables, issues);
  if (!issues.empty()) return failed();
  check_literals(ast, issues);
  if (!issues.empty()) return failed();
  auto plan = Plan::make(ast, variables);
  if (!plan.ok()) return std::move(plan).error().with_context("program instantiation failed");
  out.program = std::make_shared<Program>(std::make_unique<Plan>(std::move(*plan)));
  out.cost = estimate_cost(ast, root);
  std::unordered_map<const Expr*, bool> seen;
  collect_names(*ast.root, out.mentions, seen);
  return out;
}

}  // namespace kubewatch::cel
