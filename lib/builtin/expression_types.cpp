#include "builtin/expression_types.hpp"

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "cel/parser.hpp"

namespace kubewatch::builtin {

namespace {

// Its type borrows from `element`, which lives as long.
SharedType holding(cel::TypePtr type, const SharedType& element) {
  auto out = std::make_shared<cel::DataType>();
  out->type = std::move(type);
  out->element = element;
  return out;
}

}  // namespace

SharedType of_type(cel::TypePtr type) {
  return holding(std::move(type), nullptr);
}

SharedType plain_type(cel::Type::Kind kind) {
  return of_type(cel::simple(kind));
}

SharedType list_type(const SharedType& element) {
  return holding(cel::list_of(element->type), element);
}

SharedType map_type(const SharedType& value) {
  return holding(cel::map_of(cel::simple(cel::Type::Kind::string), value->type), value);
}

SharedType structure_type(const char* name, const TypedFields& fields) {
  auto out = std::make_shared<cel::DataType>();
  for (const auto& [key, type] : fields) out->fields[key] = {key, type};
  out->type = cel::object(std::string("kubernetes.") + name, out.get());
  return out;
}

std::string go_text(const cel::Type& type) {
  std::vector<std::string> params;
  for (const auto& param : type.params) params.push_back(go_text(*param));
  return type.name + (params.empty() ? "" : "(" + base::join(params, ", ") + ")");
}

Compiled not_compiled(std::string_view source, const cel::Issues& issues) {
  std::string problem = "compilation failed: " + issues.render();
  // Of a source without a line the server shows none, and begins to count before it.
  if (source.empty()) {
    problem.erase(std::min(problem.find('\n'), problem.size()));
    const std::size_t at = problem.find(":1:1:");
    if (at != std::string::npos) problem[at + 3] = '0';
  }
  return {nullptr, std::move(problem)};
}

Compiled compile(std::string_view source, cel::Ast& ast, cel::Issues& issues,
                 const std::vector<cel::Variable>& variables) {
  if (!issues.empty()) return not_compiled(source, issues);
  cel::TypePtr type = cel::check(ast, variables, issues);
  if (issues.empty()) cel::check_literals(ast, issues);
  return issues.empty() ? Compiled{std::move(type), ""} : not_compiled(source, issues);
}

Compiled compile(std::string_view source, const std::vector<cel::Variable>& variables) {
  cel::Issues issues(source);
  cel::Ast ast = cel::parse(source, issues);
  return compile(source, ast, issues, variables);
}

std::vector<cel::Expr*> nodes_of(const cel::Ast& ast) {
  std::vector<cel::Expr*> out;
  std::set<const cel::Expr*> seen;
  std::vector<cel::Expr*> todo{ast.root};
  while (!todo.empty()) {
    cel::Expr* node = todo.back();
    todo.pop_back();
    // Macros use some parts twice.
    if (node == nullptr || !seen.insert(node).second) continue;
    out.push_back(node);
    todo.push_back(node->target);
    todo.insert(todo.end(), node->parts.begin(), node->parts.end());
  }
  return out;
}

}  // namespace kubewatch::builtin
