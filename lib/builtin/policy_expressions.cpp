#include "builtin/policy_expressions.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "builtin/expression_types.hpp"
#include "cel/issues.hpp"
#include "cel/parser.hpp"
#include "cel/type.hpp"

namespace kubewatch::builtin {

namespace {

using cel::DataType;
using Kind = cel::Type::Kind;

const SharedType& text() {
  static const SharedType type = plain_type(Kind::string);
  return type;
}

const cel::TypePtr& request_type() {
  static const SharedType type = [] {
    const auto named = [](const char* name, const char* last) {
      return structure_type(name, {{"group", text()}, {"version", text()}, {last, text()}});
    };
    const SharedType kind = named("GroupVersionKind", "kind");
    const SharedType resource = named("GroupVersionResource", "resource");
    const SharedType user = structure_type("UserInfo", {{"username", text()},
                                                        {"uid", text()},
                                                        {"groups", list_type(text())},
                                                        {"extra", map_type(list_type(text()))}});
    return structure_type("AdmissionRequest", {{"kind", kind},
                                               {"resource", resource},
                                               {"subResource", text()},
                                               {"requestKind", kind},
                                               {"requestResource", resource},
                                               {"requestSubResource", text()},
                                               {"name", text()},
                                               {"namespace", text()},
                                               {"operation", text()},
                                               {"userInfo", user},
                                               {"dryRun", plain_type(Kind::boolean)},
                                               {"options", plain_type(Kind::dyn)}});
  }();
  return type->type;
}

const cel::TypePtr& namespace_type() {
  static const SharedType type = [] {
    const SharedType time = plain_type(Kind::timestamp);
    const SharedType number = plain_type(Kind::integer);
    const SharedType condition = structure_type("NamespaceCondition", {{"status", text()},
                                                                       {"type", text()},
                                                                       {"lastTransitionTime", time},
                                                                       {"message", text()},
                                                                       {"reason", text()}});
    const SharedType metadata =
        structure_type("NamespaceMetadata", {{"name", text()},
                                             {"generateName", text()},
                                             {"namespace", text()},
                                             {"labels", map_type(text())},
                                             {"annotations", map_type(text())},
                                             {"UID", text()},
                                             {"creationTimestamp", time},
                                             {"deletionGracePeriodSeconds", number},
                                             {"deletionTimestamp", time},
                                             {"generation", number},
                                             {"resourceVersion", text()},
                                             {"finalizers", list_type(text())}});
    return structure_type(
        "Namespace",
        {{"metadata", metadata},
         {"spec", structure_type("NamespaceSpec", {{"finalizers", list_type(text())}})},
         {"status", structure_type("NamespaceStatus",
                                   {{"conditions", list_type(condition)}, {"phase", text()}})}});
  }();
  return type->type;
}

std::vector<Kind> kinds_of(PolicyExpressions::Gives gives) {
  using Gives = PolicyExpressions::Gives;
  switch (gives) {
    case Gives::anything: return {};
    case Gives::truth: return {Kind::boolean};
    case Gives::text: return {Kind::string};
    case Gives::text_or_null: return {Kind::string, Kind::null};
  }
  return {};
}

std::string wrong_type(const cel::Type& type, PolicyExpressions::Gives gives) {
  const auto kinds = kinds_of(gives);
  const auto fits = [&type](Kind kind) { return type.is(kind); };
  if (kinds.empty() || std::any_of(kinds.begin(), kinds.end(), fits)) return "";
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.push_back(go_text(*cel::simple(kind)));
  const std::string all = base::join(names, " ");
  return "must evaluate to " + (names.size() == 1 ? all : "one of [" + all + "]") + " but got " +
         go_text(type);
}

// Each variable may double the type of the one before, {v: v}, or hold it once more, [v]: without
// limits that takes for ever, or the stack.
constexpr std::size_t kDeepestType = 16;
constexpr std::size_t kMostTypeParts = 256;

// What is known of a variable where another expression names it: of lists and maps what is in them,
// of objects nothing. `left`: how many more parts it may have.
cel::TypePtr type_of_variable(const cel::TypePtr& type, std::size_t depth, std::size_t& left) {
  if (type == nullptr || depth == kDeepestType || left == 0) return cel::simple(Kind::dyn);
  --left;
  const auto inner = [&](std::size_t i) {
    return type_of_variable(type->params[i], depth + 1, left);
  };
  switch (type->kind) {
    case Kind::list: return cel::list_of(inner(0));
    case Kind::map: {
      auto key = inner(0);
      return cel::map_of(std::move(key), inner(1));
    }
    case Kind::error:
    case Kind::object:
    case Kind::opaque:
    case Kind::param:
    case Kind::type: return cel::simple(Kind::dyn);
    default: return type;
  }
}

// What only mutations have, and the checker does not know: literals of objects and patches, and
// "jsonpatch.escapeKey".
bool is_of_mutations(const cel::Expr* node) {
  return node->kind == cel::Expr::Kind::message ||
         (node->kind == cel::Expr::Kind::ident && node->name == "jsonpatch");
}

}  // namespace

PolicyExpressions::PolicyExpressions(bool params, Scope scope)
    : variables_{{"object", cel::simple(Kind::dyn)},
                 {"oldObject", cel::simple(Kind::dyn)},
                 {"namespaceObject", namespace_type()},
                 {"request", request_type()}} {
  if (params) variables_.push_back({"params", cel::simple(Kind::dyn)});
  if (scope == Scope::without_variables) return;
  composed_ = std::make_shared<DataType>();
  variables_.push_back({"variables", cel::object("kubernetes.variables", composed_.get())});
}

std::vector<cel::Variable> PolicyExpressions::with_authorizer() const {
  auto out = variables_;
  out.push_back({"authorizer", cel::object("kubernetes.authorization.Authorizer")});
  out.push_back(
      {"authorizer.requestResource", cel::object("kubernetes.authorization.ResourceCheck")});
  return out;
}

std::string PolicyExpressions::problem(std::string_view source, Gives gives) const {
  const Compiled checked = compile(source, with_authorizer());
  return checked.type == nullptr ? checked.problem : wrong_type(*checked.type, gives);
}

std::string PolicyExpressions::message_problem(std::string_view source) const {
  const Compiled checked = compile(source, variables_);
  return checked.type == nullptr ? checked.problem : wrong_type(*checked.type, Gives::text);
}

std::string PolicyExpressions::add_variable(const std::string& name, std::string_view source) {
  const Compiled checked = compile(source, with_authorizer());
  std::size_t left = kMostTypeParts;
  composed_->fields[name] = {name, of_type(type_of_variable(checked.type, 0, left))};
  return checked.problem;
}

std::string PolicyExpressions::mutation_problem(std::string_view source,
                                                std::string_view gives) const {
  cel::Issues issues(source);
  cel::Ast ast = cel::parse(source, issues);
  if (!issues.empty()) return not_compiled(source, issues).problem;
  const auto nodes = nodes_of(ast);
  if (std::any_of(nodes.begin(), nodes.end(), is_of_mutations)) return "";
  const Compiled checked = compile(source, ast, issues, with_authorizer());
  if (checked.type == nullptr) return checked.problem;
  return "must evaluate to " + std::string(gives) + " but got " + go_text(*checked.type);
}

}  // namespace kubewatch::builtin
