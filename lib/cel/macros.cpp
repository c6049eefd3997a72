// Macros: has, all, exists, existsOne, map, filter, their forms with two variables, transformList,
// transformMap, transformMapEntry, optMap, optFlatMap, sortBy.
#include <functional>
#include <map>

#include "cel/parser.hpp"

namespace kubewatch::cel {

namespace {

constexpr const char* kAccumulator = "@result";

class Expansion {
 public:
  Expansion(Ast& ast, Expr& call, Issues& issues) : ast_(ast), call_(call), issues_(issues) {}

  Expr* has() {
    Expr* field = call_.parts[0];
    if (field->kind != Expr::Kind::select || field->test_only) {
      return failed(*field, "invalid argument to has() macro");
    }
    Expr* test = ast_.add(Expr::Kind::select, call_.offset);
    test->target = field->target;
    test->name = field->name;
    test->test_only = true;
    return test;
  }

  Expr* all() {
    if (!variables("argument must be a simple name")) return &call_;
    return fold(boolean(true), call(op::kNotStrictlyFalse, {result()}),
                call(op::kAnd, {result(), last()}), result());
  }
  Expr* exists() {
    if (!variables("argument must be a simple name")) return &call_;
    return fold(boolean(false), call(op::kNotStrictlyFalse, {call(op::kNot, {result()})}),
                call(op::kOr, {result(), last()}), result());
  }
  Expr* exists_one() {
    if (!variables("argument must be a simple name")) return &call_;
    Expr* step = call(op::kConditional, {last(), call(op::kAdd, {result(), integer(1)}), result()});
    return fold(integer(0), boolean(true), step, call(op::kEquals, {result(), integer(1)}));
  }
  // map(x, f), map(x, filter, f), filter(x, p): a list that grows.
  Expr* map() {
    if (!variables("argument is not an identifier")) return &call_;
    return grown(call(op::kAdd, {result(), list({last()})}), call_.parts.size() == 3,
                 call_.parts[1]);
  }
  Expr* filter() {
    if (!variables("argument is not an identifier")) return &call_;
    return grown(call(op::kAdd, {result(), list({call_.parts[0]})}), true, last());
  }
  Expr* transform_list() {
    if (!variables("argument must be a simple name")) return &call_;
    return grown(call(op::kAdd, {result(), list({last()})}), call_.parts.size() == 4,
                 call_.parts[2]);
  }
  Expr* transform_map(bool entries) {
    if (!variables("argument must be a simple name")) return &call_;
    Expr* step = entries ? call("cel.@mapInsert", {result(), last()})
                         : call("cel.@mapInsert", {result(), ident(variable_), last()});
    if (call_.parts.size() == 4) {
      step = call(op::kConditional, {call_.parts[2], step, result()});
    }
    return fold(ast_.add(Expr::Kind::map, call_.offset), boolean(true), step, result());
  }
  Expr* opt_map(bool flat) {
    const Expr* name = call_.parts[0];
    if (name->kind != Expr::Kind::ident) {
      return failed(*name, std::string(flat ? "optFlatMap" : "optMap") +
                               "() variable name must be a simple identifier");
    }
    Expr* inner = bind(name->name, method("value", call_.target), call_.parts[1]);
    return call(op::kConditional,
                {method("hasValue", call_.target), flat ? inner : call("optional.of", {inner}),
                 call("optional.none", {})});
  }
  Expr* sort_by() {
    if (call_.target->kind == Expr::Kind::literal || call_.target->kind == Expr::Kind::map) {
      return failed(*call_.target,
                    "sortBy can only be applied to a list, identifier, comprehension, call or "
                    "select expression");
    }
    if (!variables("argument is not an identifier")) return &call_;
    const char* input = "@__sortBy_input__";
    Expr* by = fold(list({}), boolean(true), call(op::kAdd, {result(), list({last()})}), result());
    by->parts[0] = ident(input);
    Expr* sorted = call("@sortByAssociatedKeys", {by});
    sorted->target = ident(input);
    return bind(input, call_.target, sorted);
  }

  // With the variables of the first two arguments.
  Expansion& two() {
    two_ = true;
    return *this;
  }

 private:
  Expr* failed(const Expr& where, std::string why) {
    issues_.add(where.offset, std::move(why));
    return &call_;
  }

  bool variables(const char* complaint) {
    for (std::size_t i = 0; i < (two_ ? 2U : 1U); ++i) {
      const Expr& part = *call_.parts[i];
      if (part.kind != Expr::Kind::ident) {
        failed(part, complaint);
        return false;
      }
      if (part.name == "__result__") {
        failed(part, "iteration variable overwrites accumulator variable");
        return false;
      }
      (i == 0 ? variable_ : variable2_) = part.name;
    }
    if (two_ && variable_ == variable2_) {
      failed(*call_.parts[1], "duplicate variable name: " + variable_);
      return false;
    }
    return true;
  }

  Expr* last() const { return call_.parts.back(); }
  Expr* ident(const std::string& name) {
    Expr* node = ast_.add(Expr::Kind::ident, call_.offset);
    node->name = name;
    return node;
  }
  Expr* result() { return ident(kAccumulator); }
  Expr* boolean(bool value) {
    Expr* node = ast_.add(Expr::Kind::literal, call_.offset);
    node->literal = Value::boolean(value);
    return node;
  }
  Expr* integer(std::int64_t value) {
    Expr* node = ast_.add(Expr::Kind::literal, call_.offset);
    node->literal = Value::integer(value);
    return node;
  }
  Expr* list(std::vector<Expr*> parts) {
    Expr* node = ast_.add(Expr::Kind::list, call_.offset);
    node->optional.assign(parts.size(), false);
    node->parts = std::move(parts);
    return node;
  }
  Expr* call(const char* function, std::vector<Expr*> parts) {
    Expr* node = ast_.add(Expr::Kind::call, call_.offset);
    node->name = function;
    node->parts = std::move(parts);
    return node;
  }
  Expr* method(const char* function, Expr* target) {
    Expr* node = call(function, {});
    node->target = target;
    return node;
  }
  Expr* comprehension(std::vector<Expr*> parts, std::string accumulator) {
    Expr* node = ast_.add(Expr::Kind::comprehension, call_.offset);
    node->name = std::move(accumulator);
    node->parts = std::move(parts);
    return node;
  }
  Expr* fold(Expr* init, Expr* condition, Expr* step, Expr* outcome) {
    Expr* node = comprehension({call_.target, init, condition, step, outcome}, kAccumulator);
    node->variable = variable_;
    node->variable2 = variable2_;
    return node;
  }
  Expr* grown(Expr* step, bool filtered, Expr* condition) {
    if (filtered) step = call(op::kConditional, {condition, step, result()});
    return fold(list({}), boolean(true), step, result());
  }
  Expr* bind(const std::string& name, Expr* value, Expr* inner) {
    Expr* node = comprehension({list({}), value, boolean(false), ident(name), inner}, name);
    node->variable = "#unused";
    return node;
  }

  Ast& ast_;
  Expr& call_;
  Issues& issues_;
  bool two_ = false;
  std::string variable_;
  std::string variable2_;
};

using Expand = std::function<Expr*(Expansion)>;

// By name, number of arguments and whether it is called on a value.
const std::map<std::string, Expand>& macros() {
  static const std::map<std::string, Expand> kMacros = {
      {"has:1", [](Expansion e) { return e.has(); }},
      {".all:2", [](Expansion e) { return e.all(); }},
      {".exists:2", [](Expansion e) { return e.exists(); }},
      {".exists_one:2", [](Expansion e) { return e.exists_one(); }},
      {".map:2", [](Expansion e) { return e.map(); }},
      {".map:3", [](Expansion e) { return e.map(); }},
      {".filter:2", [](Expansion e) { return e.filter(); }},
      {".all:3", [](Expansion e) { return e.two().all(); }},
      {".exists:3", [](Expansion e) { return e.two().exists(); }},
      {".exists_one:3", [](Expansion e) { return e.two().exists_one(); }},
      {".existsOne:3", [](Expansion e) { return e.two().exists_one(); }},
      {".transformList:3", [](Expansion e) { return e.two().transform_list(); }},
      {".transformList:4", [](Expansion e) { return e.two().transform_list(); }},
      {".transformMap:3", [](Expansion e) { return e.two().transform_map(false); }},
      {".transformMap:4", [](Expansion e) { return e.two().transform_map(false); }},
      {".transformMapEntry:3", [](Expansion e) { return e.two().transform_map(true); }},
      {".transformMapEntry:4", [](Expansion e) { return e.two().transform_map(true); }},
      {".optMap:2", [](Expansion e) { return e.opt_map(false); }},
      {".optFlatMap:2", [](Expansion e) { return e.opt_map(true); }},
      {".sortBy:2", [](Expansion e) { return e.sort_by(); }},
  };
  return kMacros;
}

}  // namespace

Expr* expand_macro(Ast& ast, Expr& call, Issues& issues) {
  // A name with a leading dot is one of the container's root, never a macro: .all(x, p) has no
  // range.
  if (call.target == nullptr && call.name.starts_with('.')) return nullptr;
  const std::string key =
      (call.target != nullptr ? "." : "") + call.name + ":" + std::to_string(call.parts.size());
  const auto found = macros().find(key);
  if (found == macros().end()) return nullptr;
  return found->second(Expansion(ast, call, issues));
}

}  // namespace kubewatch::cel
