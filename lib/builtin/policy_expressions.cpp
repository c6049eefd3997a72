#include "builtin/policy_expressions.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "cel/issues.hpp"
#include "cel/parser.hpp"
#include "cel/type.hpp"

namespace kubewatch::builtin {

namespace {

using cel::DataType;
using Kind = cel::Type::Kind;
using Shared = std::shared_ptr<const DataType>;
using Fields = std::vector<std::pair<const char*, Shared>>;

// No value is ever read by them: of a form they need none.
Shared of_type(cel::TypePtr type) {
  auto out = std::make_shared<DataType>();
  out->type = std::move(type);
  return out;
}

Shared plain(Kind kind) {
  return of_type(cel::simple(kind));
}

// Its type borrows from `element`, which lives as long.
Shared holding(cel::TypePtr type, const Shared& element) {
  auto out = std::make_shared<DataType>();
  out->type = std::move(type);
  out->element = element;
  return out;
}

Shared list(const Shared& element) {
  return holding(cel::list_of(element->type), element);
}

Shared map_to(const Shared& value) {
  return holding(cel::map_of(cel::simple(Kind::string), value->type), value);
}

Shared structure(const char* name, const Fields& fields) {
  auto out = std::make_shared<DataType>();
  for (const auto& [key, type] : fields) out->fields[key] = {key, type};
  out->type = cel::object(std::string("kubernetes.") + name, out.get());
  return out;
}

const Shared& text() {
  static const Shared type = plain(Kind::string);
  return type;
}

const cel::TypePtr& request_type() {
  static const Shared type = [] {
    const auto named = [](const char* name, const char* last) {
      return structure(name, {{"group", text()}, {"version", text()}, {last, text()}});
    };
    const Shared kind = named("GroupVersionKind", "kind");
    const Shared resource = named("GroupVersionResource", "resource");
    const Shared user = structure("UserInfo", {{"username", text()},
                                               {"uid", text()},
                                               {"groups", list(text())},
                                               {"extra", map_to(list(text()))}});
    return structure("AdmissionRequest", {{"kind", kind},
                                          {"resource", resource},
                                          {"subResource", text()},
                                          {"requestKind", kind},
                                          {"requestResource", resource},
                                          {"requestSubResource", text()},
                                          {"name", text()},
                                          {"namespace", text()},
                                          {"operation", text()},
                                          {"userInfo", user},
                                          {"dryRun", plain(Kind::boolean)},
                                          {"options", plain(Kind::dyn)}});
  }();
  return type->type;
}

const cel::TypePtr& namespace_type() {
  static const Shared type = [] {
    const Shared time = plain(Kind::timestamp);
    const Shared number = plain(Kind::integer);
    const Shared condition = structure("NamespaceCondition", {{"status", text()},
                                                              {"type", text()},
                                                              {"lastTransitionTime", time},
                                                              {"message", text()},
                                                              {"reason", text()}});
    const Shared metadata = structure("NamespaceMetadata", {{"name", text()},
                                                            {"generateName", text()},
                                                            {"namespace", text()},
                                                            {"labels", map_to(text())},
                                                            {"annotations", map_to(text())},
                                                            {"UID", text()},
                                                            {"creationTimestamp", time},
                                                            {"deletionGracePeriodSeconds", number},
                                                            {"deletionTimestamp", time},
                                                            {"generation", number},
                                                            {"resourceVersion", text()},
                                                            {"finalizers", list(text())}});
    return structure("Namespace",
                     {{"metadata", metadata},
                      {"spec", structure("NamespaceSpec", {{"finalizers", list(text())}})},
                      {"status", structure("NamespaceStatus",
                                           {{"conditions", list(condition)}, {"phase", text()}})}});
  }();
  return type->type;
}

// As Go prints a type, not as the checker's messages name it.
std::string go_text(const cel::Type& type) {
  std::vector<std::string> params;
  for (const auto& param : type.params) params.push_back(go_text(*param));
  return type.name + (params.empty() ? "" : "(" + base::join(params, ", ") + ")");
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

struct Checked {
  cel::TypePtr type;    // null where it does not compile
  std::string problem;  // why
};

Checked failed(const cel::Issues& issues) {
  return {nullptr, "compilation failed: " + issues.render()};
}

Checked check(std::string_view source, const std::vector<cel::Variable>& variables) {
  cel::Issues issues(source);
  cel::Ast ast = cel::parse(source, issues);
  if (!issues.empty()) return failed(issues);
  cel::TypePtr type = cel::check(ast, variables, issues);
  if (issues.empty()) cel::check_literals(ast, issues);
  return issues.empty() ? Checked{std::move(type), ""} : failed(issues);
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
  const Checked checked = check(source, with_authorizer());
  return checked.type == nullptr ? checked.problem : wrong_type(*checked.type, gives);
}

std::string PolicyExpressions::message_problem(std::string_view source) const {
  const Checked checked = check(source, variables_);
  return checked.type == nullptr ? checked.problem : wrong_type(*checked.type, Gives::text);
}

std::string PolicyExpressions::add_variable(const std::string& name, std::string_view source) {
  const Checked checked = check(source, with_authorizer());
  std::size_t left = kMostTypeParts;
  composed_->fields[name] = {name, of_type(type_of_variable(checked.type, 0, left))};
  return checked.problem;
}

std::string syntax_problem(std::string_view source) {
  cel::Issues issues(source);
  cel::parse(source, issues);
  if (issues.empty()) return "";
  std::string problem = failed(issues).problem;
  // Of a source without a line the server shows none, and begins to count before it.
  if (source.empty()) {
    problem.erase(std::min(problem.find('\n'), problem.size()));
    const std::size_t at = problem.find(":1:1:");
    if (at != std::string::npos) problem[at + 3] = '0';
  }
  return problem;
}

}  // namespace kubewatch::builtin
