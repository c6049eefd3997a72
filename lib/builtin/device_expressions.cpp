#include "builtin/device_expressions.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "builtin/expression_types.hpp"
#include "cel/cost.hpp"
#include "cel/parser.hpp"

namespace kubewatch::builtin {

namespace {

using cel::Expr;
using Kind = cel::Type::Kind;

constexpr const char* kAnyName = "google.protobuf.Any";

// The value of an attribute: as dynamic as what has the type dyn, but the server tells it from that
// where an expression gives it.
const cel::TypePtr& any_type() {
  static const cel::TypePtr type = [] {
    auto out = std::make_shared<cel::Type>();
    out->kind = Kind::dyn;
    out->name = kAnyName;
    return out;
  }();
  return type;
}

const std::vector<cel::Variable>& variables() {
  static const SharedType device = structure_type(
      "DRADevice", {{"driver", plain_type(Kind::string)},
                    {"allowMultipleAllocations", plain_type(Kind::boolean)},
                    {"attributes", map_type(map_type(of_type(any_type())))},
                    {"capacity", map_type(map_type(of_type(cel::object("kubernetes.Quantity"))))}});
  static const std::vector<cel::Variable> all = {{"device", device->type}};
  return all;
}

using Form = cel::DataType::Form;

SharedType bounded(std::uint64_t most) {
  auto out = std::make_shared<cel::DataType>();
  out->max_elements = most;
  return out;
}

// Of a device: so many names, of so many characters.
SharedType bounded_map(std::uint64_t longest_key, SharedType element, bool entries_are_fields) {
  constexpr std::uint64_t kMostNames = 32;
  auto out = std::make_shared<cel::DataType>();
  out->form = Form::map;
  out->max_elements = kMostNames;
  out->key = bounded(longest_key);
  out->element = std::move(element);
  out->entries_are_fields = entries_are_fields;
  return out;
}

// What costs are estimated with.
const cel::DataType& bounds() {
  constexpr std::uint64_t kLongestDomain = 63;
  constexpr std::uint64_t kLongestName = 32;
  constexpr std::uint64_t kLongestValue = 64;
  static const cel::DataType all = [] {
    const auto names = [](SharedType value, bool entries_are_fields) {
      return bounded_map(kLongestDomain,
                         bounded_map(kLongestName, std::move(value), entries_are_fields), false);
    };
    cel::DataType device;
    device.form = Form::object;
    device.fields = {{"driver", {"driver", bounded(kLongestDomain)}},
                     {"allowMultipleAllocations", {"allowMultipleAllocations", bounded(1)}},
                     {"attributes", {"attributes", names(bounded(kLongestValue), true)}},
                     {"capacity", {"capacity", names(bounded(0), false)}}};
    return device;
  }();
  return all;
}

bool is_binding(const Expr& node) {
  return node.kind == Expr::Kind::call && node.name == "bind" && node.parts.size() == 3 &&
         node.target != nullptr && node.target->kind == Expr::Kind::ident &&
         node.target->name == "cel";
}

// cel.bind(name, value, expression), which no other expression of the server has: the node becomes
// what a macro that names a value makes.
void expand_binding(cel::Ast& ast, Expr& node, cel::Issues& issues) {
  const Expr& name = *node.parts[0];
  if (name.kind != Expr::Kind::ident) {
    return issues.add(name.offset, "cel.bind() variable names must be simple identifiers");
  }
  Expr* nothing = ast.add(Expr::Kind::list, node.offset);
  Expr* never = ast.add(Expr::Kind::literal, node.offset);
  never->literal = cel::Value::boolean(false);
  Expr* bound = ast.add(Expr::Kind::ident, node.offset);
  bound->name = name.name;
  node.kind = Expr::Kind::comprehension;
  node.name = name.name;
  node.variable = "#unused";
  node.target = nullptr;
  node.parts = {nothing, node.parts[1], never, bound, node.parts[2]};
}

}  // namespace

DeviceSelector read_device_selector(std::string_view source) {
  cel::Issues issues(source);
  cel::Ast ast = cel::parse(source, issues);
  if (issues.empty()) {
    for (Expr* node : nodes_of(ast)) {
      if (is_binding(*node)) expand_binding(ast, *node, issues);
    }
  }
  const Compiled compiled = compile(source, ast, issues, variables());
  if (compiled.type == nullptr) return {compiled.problem, 0};
  const cel::Type& type = *compiled.type;
  if (!type.is(Kind::boolean) && !(type.is(Kind::dyn) && type.name == kAnyName)) {
    return {"must evaluate to bool or the unknown type, not " + go_text(type), 0};
  }
  return {"", cel::estimate_cost(ast, bounds()).max};
}

}  // namespace kubewatch::builtin
