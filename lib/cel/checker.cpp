#include "cel/checker.hpp"

#include "cel/data_type.hpp"
#include "cel/declarations.hpp"
#include "cel/unify.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Type::Kind;

// "a.b.c" when the node is a chain of names.
std::string qualified(const Expr& node) {
  std::vector<const Expr*> fields;
  const Expr* first = &node;
  for (; first->kind == Expr::Kind::select && !first->test_only; first = first->target) {
    fields.push_back(first);
  }
  if (first->kind != Expr::Kind::ident) return "";
  std::string out = first->name;
  for (auto at = fields.rbegin(); at != fields.rend(); ++at) out.append(".").append((*at)->name);
  return out;
}

TypePtr unwrapped(const TypePtr& type, bool& optional) {
  optional = type->is_optional();
  return optional ? type->params[0] : type;
}

class Checker {
 public:
  Checker(const std::vector<Variable>& variables, Issues& issues)
      : variables_(variables), issues_(issues) {}

  void check(Expr& node) {
    if (node.type != nullptr) return;  // a part that a macro uses twice
    seen_.push_back(&node);
    switch (node.kind) {
      case Expr::Kind::literal: node.type = literal(node.literal); return;
      case Expr::Kind::ident: return ident(node);
      case Expr::Kind::select: return select(node);
      case Expr::Kind::call: return call(node);
      case Expr::Kind::list: return list(node);
      case Expr::Kind::map: return map(node);
      case Expr::Kind::message: return message(node);
      case Expr::Kind::comprehension: return comprehension(node);
    }
  }

  // Variables of types that nothing has settled become dyn.
  void settle(const Expr& root) {
    for (Expr* node : seen_) node->type = substitute(known_, node->type, true);
    if (known_.too_large()) error(root, "the types of the expression are too large");
  }

 private:
  static TypePtr literal(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::boolean: return simple(Kind::boolean);
      case Value::Kind::integer: return simple(Kind::integer);
      case Value::Kind::uinteger: return simple(Kind::uinteger);
      case Value::Kind::real: return simple(Kind::real);
      case Value::Kind::string: return simple(Kind::string);
      case Value::Kind::bytes: return simple(Kind::bytes);
      default: return simple(Kind::null);
    }
  }

  TypePtr lookup(std::string name) const {
    if (!name.empty() && name[0] == '.') name.erase(0, 1);
    for (auto at = variables_.rbegin(); at != variables_.rend(); ++at) {
      if (at->name == name) return at->type;
    }
    return find_type_name(name);
  }

  void error(const Expr& node, std::string message) {
    issues_.add(node.offset, std::move(message));
  }
  void undeclared(Expr& node, const std::string& name) {
    error(node, "undeclared reference to '" + name + "' (in container '')");
    node.type = simple(Kind::error);
  }
  void mismatch(const Expr& node, const Type& expected, const Type& found) {
    error(node, "expected type '" + to_string(expected) + "' but found '" + to_string(found) + "'");
  }
  TypePtr free_variable() { return param("_var" + std::to_string(free_++)); }
  TypePtr known(const TypePtr& type) const { return substitute(known_, type, false); }

  void ident(Expr& node) {
    node.type = lookup(node.name);
    if (node.type == nullptr) undeclared(node, node.name);
  }

  void select(Expr& node) {
    if (const auto name = qualified(node); !name.empty()) {
      if (auto type = lookup(name)) {
        node.kind = Expr::Kind::ident;
        node.name = name;
        node.target = nullptr;
        node.type = std::move(type);
        return;
      }
    }
    TypePtr type = field(node, *node.target, node.name, false);
    node.type = node.test_only ? simple(Kind::boolean) : known(type);
  }

  TypePtr field(Expr& node, Expr& operand, const std::string& name, bool optional) {
    check(operand);
    bool is_optional = false;
    const TypePtr target = unwrapped(known(operand.type), is_optional);
    TypePtr result = simple(Kind::error);
    if (target->is(Kind::map)) {
      result = target->params[1];
    } else if (target->is(Kind::object)) {
      const auto* found = target->data == nullptr ? nullptr : target->data->field(name);
      if (target->data == nullptr) {
        error(node, "unexpected failed resolution of '" + target->name + "'");
      } else if (found == nullptr) {
        error(node, "undefined field '" + name + "'");
      } else {
        result = found->type->type;
      }
    } else {
      if (target->is(Kind::param)) {
        assignable(known_, simple(Kind::dyn), target);
      } else if (!is_dyn_or_error(*target)) {
        error(node, "type '" + to_string(*target) + "' does not support field selection");
      }
      result = simple(Kind::dyn);
    }
    return is_optional || optional ? optional_of(result) : result;
  }

  void call(Expr& node) {
    if (node.name == op::kOptSelect) {
      const std::string name(node.parts[1]->literal.text());
      node.type = known(field(node, *node.parts[0], name, true));
      check(*node.parts[1]);
      static const Overload kSelect{"select_optional_field", false, {}, nullptr, {}};
      node.overloads = {&kSelect};
      return;
    }
    for (Expr* part : node.parts) check(*part);
    if (node.target == nullptr) {
      const auto* function = find_function(node.name);
      if (function == nullptr) return undeclared(node, node.name);
      return resolve(node, *function);
    }
    if (const auto prefix = qualified(*node.target); !prefix.empty()) {
      if (const auto* function = find_function(prefix + "." + node.name)) {
        node.target = nullptr;
        node.name = function->name;
        return resolve(node, *function);
      }
    }
    check(*node.target);
    const auto* function = find_function(node.name);
    if (function == nullptr) return undeclared(node, node.name);
    resolve(node, *function);
  }

  void logical(Expr& node, const Function& function) {
    node.overloads = {&function.overloads[0]};
    node.type = simple(Kind::boolean);
    for (const Expr* part : node.parts) {
      if (part->type->is(Kind::boolean)) continue;
      if (assignable(known_, part->type, simple(Kind::boolean))) continue;
      mismatch(*part, *simple(Kind::boolean), *part->type);
      node.type = simple(Kind::error);
    }
  }

  void resolve(Expr& node, const Function& function) {
    if (function.name == op::kAnd || function.name == op::kOr) return logical(node, function);
    std::vector<TypePtr> arguments;
    if (node.target != nullptr) arguments.push_back(node.target->type);
    for (const Expr* part : node.parts) arguments.push_back(part->type);
    TypePtr result;
    for (const auto& overload : function.overloads) {
      if (overload.on_value != (node.target != nullptr)) continue;
      Substitution fresh;
      for (const auto& variable : overload.variables) fresh.set(*param(variable), free_variable());
      std::vector<TypePtr> wanted;
      for (const auto& argument : overload.arguments) {
        wanted.push_back(substitute(fresh, argument, false));
      }
      if (!assignable(known_, arguments, wanted)) continue;
      node.overloads.push_back(&overload);
      const TypePtr one = known(substitute(fresh, overload.result, false));
      if (result == nullptr) {
        result = one;
      } else if (!result->is(Kind::dyn) && !same(*one, *result)) {
        result = simple(Kind::dyn);
      }
    }
    if (result == nullptr) {
      for (auto& argument : arguments) argument = substitute(known_, argument, true);
      error(node, "found no matching overload for '" + function.name + "' applied to '" +
                      signature(arguments, node.target != nullptr) + "'");
      result = simple(Kind::error);
    }
    node.type = result;
  }

  // The type that both have; check_literals() complains of literals that mix types.
  TypePtr joined(const TypePtr& before, const TypePtr& now) {
    if (before == nullptr) return now;
    return assignable(known_, before, now) ? most_general(before, now) : simple(Kind::dyn);
  }

  TypePtr element_type(const Expr& element, bool optional) {
    if (!optional) return element.type;
    bool is_optional = false;
    TypePtr inner = unwrapped(element.type, is_optional);
    if (!is_optional && !inner->is(Kind::dyn)) {
      mismatch(element, *optional_of(inner), *inner);
    }
    return inner;
  }

  void list(Expr& node) {
    TypePtr type;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      check(*node.parts[i]);
      type = joined(type, element_type(*node.parts[i], node.optional[i]));
    }
    node.type = bounded(known_, list_of(type == nullptr ? free_variable() : type));
  }

  void map(Expr& node) {
    TypePtr key, value;
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      Expr &key_node = *node.parts[i], &value_node = *node.parts[i + 1];
      check(key_node);
      key = joined(key, key_node.type);
      check(value_node);
      value = joined(value, element_type(value_node, node.optional[i / 2]));
    }
    if (key == nullptr) {
      key = free_variable();
      value = free_variable();
    }
    node.type = bounded(known_, map_of(key, value));
  }

  // No type of Kubernetes' environment can be made by a literal.
  void message(Expr& node) {
    for (Expr* part : node.parts) check(*part);
    const auto type = lookup(node.name);
    if (type == nullptr) return undeclared(node, node.name);
    const bool is_type = type->is(Kind::type) && !type->params.empty();
    const auto shown = to_string(is_type ? *type->params[0] : *type);
    error(node, "'" + shown + "' is not a " + (is_type ? "message type" : "type"));
    node.type = simple(Kind::error);
  }

  void comprehension(Expr& node) {
    check(*node.range());
    check(*node.init());
    const TypePtr range = known(node.range()->type);
    TypePtr first = simple(Kind::error), second = first;
    const bool two = !node.variable2.empty();
    if (range->is(Kind::list)) {
      first = two ? simple(Kind::integer) : range->params[0];
      second = range->params[0];
    } else if (range->is(Kind::map)) {
      first = range->params[0];
      second = range->params[1];
    } else if (is_dyn_or_error(*range) || range->is(Kind::param)) {
      assignable(known_, simple(Kind::dyn), range);
      first = second = simple(Kind::dyn);
    } else {
      error(*node.range(), "expression of type '" + to_string(*range) +
                               "' cannot be range of a comprehension (must be list, map, or "
                               "dynamic)");
    }
    const auto outside = variables_.size();
    const TypePtr accumulator = node.init()->type;
    variables_.push_back({node.name, accumulator});
    variables_.push_back({node.variable, first});
    if (two) variables_.push_back({node.variable2, second});
    require(*node.condition(), simple(Kind::boolean));
    require(*node.step(), accumulator);
    variables_.resize(outside + 1);
    check(*node.result());
    variables_.resize(outside);
    node.type = known(node.result()->type);
  }

  void require(Expr& node, const TypePtr& type) {
    check(node);
    if (!assignable(known_, type, node.type)) mismatch(node, *type, *node.type);
  }

  std::vector<Variable> variables_;
  Issues& issues_;
  Substitution known_;
  std::vector<Expr*> seen_;
  std::size_t free_ = 0;
};

}  // namespace

TypePtr check(Ast& ast, const std::vector<Variable>& variables, Issues& issues) {
  Checker checker(variables, issues);
  checker.check(*ast.root);
  checker.settle(*ast.root);
  return ast.root->type;
}

}  // namespace kubewatch::cel
