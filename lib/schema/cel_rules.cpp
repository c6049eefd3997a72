#include "schema/cel_rules.hpp"

#include "base/strings.hpp"
#include "cel/lexer.hpp"
#include "schema/rule_checker.hpp"

namespace kubewatch::schema {

namespace {

using CelKind = cel::Type::Kind;

// The name in ['...'] at `at`, which goes behind it.
std::optional<std::string> quoted_name(const std::string& path, std::size_t& at) {
  static constexpr std::string_view kNames = "abfnrtv'\\";
  static constexpr std::string_view kMeaning = "\a\b\f\n\r\t\v'\\";
  if (path.compare(at, 2, "['") != 0) return std::nullopt;
  std::string out;
  for (at += 2; at < path.size(); ++at) {
    if (path[at] == '\'') {
      if (path.compare(at, 2, "']") != 0) return std::nullopt;
      at += 2;
      return out;
    }
    if (path[at] == '\\') {
      if (++at >= path.size()) return std::nullopt;
      const auto escape = kNames.find(path[at]);
      if (escape == std::string_view::npos) return std::nullopt;
      out += kMeaning[escape];
    } else {
      out += path[at];
    }
  }
  return std::nullopt;
}

void compile_message(const ValidationRule& rule, const std::vector<cel::Variable>& variables,
                     const cel::DataType& type, CompiledRule& out) {
  if (rule.message_expression.empty()) return;
  auto compiled = cel::compile(rule.message_expression, variables, type);
  if (!compiled.ok()) {
    out.message_error = "messageExpression compilation failed: " + compiled.error().message();
  } else if (!compiled->type->is(CelKind::string)) {
    out.message_error = "messageExpression must evaluate to a string";
  } else {
    out.message = compiled->program;
    out.message_cost = compiled->cost.max;
  }
}

CompiledRule compile_rule(const Structural& schema, const ValidationRule& rule,
                          const cel::DataType& type) {
  CompiledRule out;
  out.rule = &rule;
  if (base::trim(rule.rule).empty()) return out;
  std::vector<cel::Variable> variables = {{"self", type.type}, {"oldSelf", type.type}};
  if (rule.optional_old_self.value_or(false)) variables[1].type = cel::optional_of(type.type);
  auto compiled = cel::compile(rule.rule, variables, type);
  if (!compiled.ok()) {
    const auto& error = compiled.error();
    const bool program = error.render() != error.message();
    out.error = program ? error.render() : "compilation failed: " + error.message();
    return out;
  }
  if (!compiled->type->is(CelKind::boolean)) {
    out.error = "cel expression must evaluate to a bool";
    return out;
  }
  out.uses_old_self = compiled->uses("oldSelf");
  out.program = compiled->program;
  out.max_cost = compiled->cost.max;
  compile_message(rule, variables, type, out);
  if (!rule.field_path.empty())
    out.field_path = field_path_of(rule.field_path, schema).value_or("");
  return out;
}

}  // namespace

std::optional<std::string> field_path_of(const std::string& path, const Structural& schema) {
  std::string out;
  const Structural* at = &schema;
  for (std::size_t i = 0; i < path.size();) {
    std::string name;
    if (path[i] == '.') {
      const auto end = path.find_first_of(".[]", i + 1);
      name = path.substr(i + 1, end == std::string::npos ? end : end - i - 1);
      i = std::min(end, path.size());
    } else {
      auto quoted = quoted_name(path, i);
      if (!quoted) return std::nullopt;
      name = std::move(*quoted);
    }
    if (!at->properties.empty()) {
      const auto found = at->properties.find(name);
      if (found == at->properties.end()) return std::nullopt;
      out += (out.empty() ? "" : ".") + name;
      at = found->second.get();
    } else if (at->additional_properties != nullptr) {
      out += "[" + name + "]";
      at = at->additional_properties.get();
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::string shown_rule(const ValidationRule& rule) {
  return std::string(base::trim(rule.message.empty() ? rule.rule : rule.message));
}

std::vector<CompiledRule> compile_rules(const Structural& schema, const cel::DataType& type) {
  std::vector<CompiledRule> out;
  for (const auto& rule : schema.validations) out.push_back(compile_rule(schema, rule, type));
  return out;
}

std::string rule_tokens(const std::string& rule) {
  cel::Issues issues(rule);
  std::string out;
  for (const cel::Token& token : cel::tokenize(rule, issues)) {
    if (token.kind == cel::Token::Kind::end) break;
    if (!out.empty()) out += ' ';
    out += token.text;
  }
  return issues.empty() ? out : rule;
}

}  // namespace kubewatch::schema
