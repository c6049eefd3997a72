#include "cel/plan.hpp"

#include <algorithm>
#include <array>

#include "cel/declarations.hpp"

namespace kubewatch::cel {

using Op = Step::Op;

class Planner {
 public:
  Planner(Plan& plan, const std::vector<Variable>& variables) : plan_(plan) {
    for (const auto& variable : variables) declare(variable.name);
  }

  std::uint32_t add(const Expr& node) {
    if (const auto known = done_.find(&node); known != done_.end()) return known->second;
    Step step = make(node);
    plan_.steps_.push_back(std::move(step));
    const auto index = static_cast<std::uint32_t>(plan_.steps_.size() - 1);
    // What a macro uses twice is planned once; names may mean something else elsewhere.
    if (node.kind == Expr::Kind::call || node.kind == Expr::Kind::comprehension) {
      done_[&node] = index;
    }
    return index;
  }

  const std::string& problem() const { return problem_; }

 private:
  struct Name {
    std::string name;
    std::uint32_t slot;
    bool taken;  // reading it the accumulator's last value may be taken away
  };

  std::uint32_t declare(const std::string& name) {
    const auto slot = static_cast<std::uint32_t>(plan_.slots_++);
    names_.push_back({name, slot, false});
    return slot;
  }

  Step make(const Expr& node) {
    switch (node.kind) {
      case Expr::Kind::ident: return ident(node);
      case Expr::Kind::select: return select(node);
      case Expr::Kind::call: return call(node);
      case Expr::Kind::list:
      case Expr::Kind::map: return aggregate(node);
      case Expr::Kind::comprehension: return comprehension(node);
      default: return constant(node.literal);
    }
  }

  static Step constant(Value value) {
    Step step;
    step.op = Op::constant;
    step.constant = std::move(value);
    return step;
  }

  Step ident(const Expr& node) {
    const std::string name = node.name[0] == '.' ? node.name.substr(1) : node.name;
    for (auto at = names_.rbegin(); at != names_.rend(); ++at) {
      if (at->name != name) continue;
      Step step;
      step.op = at->taken ? Op::take : Op::variable;
      step.slot = at->slot;
      return step;
    }
    return constant(Value::type(name));
  }

  static bool is_name(const Expr& node) {
    if (node.kind == Expr::Kind::call) return node.name == op::kIndex && is_name(*node.parts[0]);
    return node.kind == Expr::Kind::ident ||
           (node.kind == Expr::Kind::select && is_name(*node.target));
  }

  Step select(const Expr& node) {
    Step step;
    step.op = node.test_only ? Op::has_field : Op::field;
    step.constant = Value::string(node.name);
    step.on_name = is_name(*node.target);
    step.parts = {add(*node.target)};
    return step;
  }

  // Operators that decide themselves what is evaluated.
  static Op lazy(const Expr& node) {
    if (node.name == op::kAnd) return Op::logical_and;
    if (node.name == op::kOr) return Op::logical_or;
    if (node.name == op::kConditional) return Op::conditional;
    if (node.name == op::kNotStrictlyFalse) return Op::not_strictly_false;
    if (node.name == op::kIndex) return Op::index;
    if (node.name == op::kOptIndex) return Op::optional_index;
    if (node.name == "or") return Op::or_optional;
    if (node.name == "orValue") return Op::or_value;
    return Op::call;
  }

  Step call(const Expr& node) {
    Step step;
    if (node.name == op::kOptSelect) {
      step.op = Op::optional_field;
      step.constant = node.parts[1]->literal;
      step.on_name = is_name(*node.parts[0]);
      step.parts = {add(*node.parts[0])};
      return step;
    }
    if (node.target != nullptr) step.parts.push_back(add(*node.target));
    for (const Expr* part : node.parts) step.parts.push_back(add(*part));
    step.op = lazy(node);
    step.on_name = !node.parts.empty() && is_name(*node.parts[0]);
    if (step.op != Op::call) return step;
    step.run = find_implementation(node.name);
    step.charge = charge_of(node.name, node.overloads);
    if (is_conversion(node.name) && step.parts.size() == 1 &&
        plan_.steps_[step.parts[0]].op == Op::constant) {
      return converted(step);
    }
    prepare(node, step);
    return step;
  }

  static bool is_conversion(const std::string& name) {
    for (const char* known : {"bool", "bytes", "double", "duration", "dyn", "int", "string",
                              "timestamp", "type", "uint"}) {
      if (name == known) return true;
    }
    return false;
  }

  // A conversion of a literal is made now; one that fails would fail always.
  Step converted(const Step& step) {
    std::array<Value, 1> argument = {plan_.steps_[step.parts[0]].constant};
    Value result = step.run(argument, {});
    if (result.is_error() && problem_.empty()) problem_ = std::string(result.text());
    return constant(std::move(result));
  }

  void prepare(const Expr& node, Step& step) {
    const auto second = step.parts.size() > 1 ? plan_.steps_[step.parts[1]].op : Op::call;
    const bool constant = second == Op::constant;
    if (node.name == op::kIn && constant) step.charge = Charge::none;  // a set that was made before
    if (node.name == "sum" && node.overloads.size() == 1) step.constant = zero(*node.type);
    const bool pattern = node.name == "matches" || node.name == "find" || node.name == "findAll";
    if (!pattern || !constant) return;
    const Value& text = plan_.steps_[step.parts[1]].constant;
    if (!text.is(Value::Kind::string)) return;
    auto regex = base::Regex::compile(text.text());
    if (!regex.ok()) {
      if (problem_.empty()) problem_ = regex.error().message();
      return;
    }
    step.prepared.regex = &plan_.regexes_.emplace_back(std::move(*regex));
  }

  static Value zero(const Type& type) {
    switch (type.kind) {
      case Type::Kind::uinteger: return Value::uinteger(0);
      case Type::Kind::real: return Value::real(0);
      case Type::Kind::duration: return Value::duration(0);
      default: return Value::integer(0);
    }
  }

  Step aggregate(const Expr& node) {
    Step step;
    step.op = node.kind == Expr::Kind::list ? Op::list : Op::map;
    step.optional = node.optional;
    step.has_optional =
        std::find(node.optional.begin(), node.optional.end(), true) != node.optional.end();
    bool constants = !step.has_optional;
    for (const Expr* part : node.parts) {
      step.parts.push_back(add(*part));
      constants = constants && plan_.steps_[step.parts.back()].op == Op::constant;
    }
    if (!constants) return step;
    return step.op == Op::list ? constant_list(step) : constant_map(step);
  }

  Step constant_list(const Step& step) const {
    std::vector<Value> items;
    for (const auto part : step.parts) items.push_back(plan_.steps_[part].constant);
    return constant(list(std::move(items)));
  }
  Step constant_map(const Step& step) const {
    auto* object = new MapObject;
    for (std::size_t i = 0; i + 1 < step.parts.size(); i += 2) {
      object->insert(plan_.steps_[step.parts[i]].constant,
                     plan_.steps_[step.parts[i + 1]].constant);
    }
    return constant(map(object));
  }

  Step comprehension(const Expr& node) {
    Step step;
    const bool bind = node.is_bind();
    step.op = bind ? Op::bind : Op::fold;
    if (!bind) step.parts.push_back(add(*node.range()));
    step.parts.push_back(add(*node.init()));
    const auto outside = names_.size();
    step.slot = declare(node.name);
    if (!bind) {
      step.first = declare(node.variable);
      step.two = !node.variable2.empty();
      if (step.two) declare(node.variable2);
      step.parts.push_back(add(*node.condition()));
      names_[outside].taken = true;
      step.parts.push_back(add(*node.step()));
      names_[outside].taken = false;
      names_.resize(outside + 1);
    }
    step.parts.push_back(add(*node.result()));
    names_.resize(outside);
    return step;
  }

  Plan& plan_;
  std::vector<Name> names_;
  std::unordered_map<const Expr*, std::uint32_t> done_;
  std::string problem_;
};

Result<Plan> Plan::make(const Ast& ast, const std::vector<Variable>& variables) {
  Plan plan;
  Planner planner(plan, variables);
  plan.root_ = planner.add(*ast.root);
  if (!planner.problem().empty()) return Error(ErrorKind::invalid, planner.problem());
  return plan;
}

}  // namespace kubewatch::cel
