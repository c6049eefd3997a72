// Admission policies and their bindings: what they match, and the expressions that judge it.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/policy_expressions.hpp"
#include "builtin/validation_kinds.hpp"
#include "cel/words.hpp"

namespace kubewatch::builtin {

namespace {

using Gives = PolicyExpressions::Gives;
using Scope = PolicyExpressions::Scope;

constexpr std::size_t kMostConditions = 64;
constexpr std::size_t kMostAnnotations = 20;
constexpr std::size_t kMostValueExpression = std::size_t{5} << 10U;

std::string trimmed(const Field& text) {
  return std::string(base::trim(text.text()));
}

void tell(const Field& expression, const std::string& shown, const std::string& problem) {
  if (!problem.empty()) expression.invalid_as(go_quoted(shown), problem);
}

void check_param_ref(const Field& ref) {
  if (!ref.present()) return;
  const Field name = ref["name"];
  const Field selector = ref["selector"];
  if (name.empty() && !selector.present()) {
    ref.required("one of name or selector must be specified");
  } else if (!name.empty() && selector.present()) {
    name.forbidden("name and selector are mutually exclusive");
    selector.forbidden("name and selector are mutually exclusive");
  } else if (!name.empty()) {
    name.invalid_each(path_segment_problems(name.text()));
  } else {
    check_label_selector(selector);
  }
  const Field missing = ref["parameterNotFoundAction"];
  if (missing.empty()) return missing.required();
  missing.one_of({"Deny", "Allow"});
}

void check_named_rule(const Field& rule) {
  std::set<std::string> names;
  for (const auto& name : rule["resourceNames"].items()) {
    name.invalid_each(path_segment_problems(name.text()));
    if (!names.insert(name.text()).second) name.duplicate();
  }
  check_operations_rule(rule);
}

void check_match(const Field& match) {
  if (!match.present()) return;
  match["matchPolicy"].one_of({"Equivalent", "Exact"});
  check_label_selector(match["namespaceSelector"]);
  check_label_selector(match["objectSelector"]);
  for (const char* list : {"resourceRules", "excludeResourceRules"}) {
    for (const auto& rule : match[list].items()) check_named_rule(rule);
  }
}

void check_match_condition(const Field& condition, const PolicyExpressions& expressions) {
  const Field expression = condition["expression"];
  const std::string source = trimmed(expression);
  if (source.empty()) {
    expression.required();
  } else {
    tell(expression, source, expressions.problem(source, Gives::truth));
  }
  const Field name = condition["name"];
  if (name.empty()) return name.required();
  name.invalid_each(qualified_problems(name.text()));
}

}  // namespace

void check_match_conditions(const Field& conditions, bool params) {
  const PolicyExpressions expressions(params, Scope::without_variables);
  if (conditions.size() > kMostConditions) conditions.too_many(kMostConditions);
  std::set<std::string> names;
  for (const auto& condition : conditions.items()) {
    check_match_condition(condition, expressions);
    const Field name = condition["name"];
    if (!name.empty() && !names.insert(name.text()).second) name.duplicate();
  }
}

namespace {

void check_param_version(const Field& version) {
  const std::string text = version.text();
  if (text.empty()) return version.required();
  const auto parts = base::split(text, '/');
  if (parts.size() > 2) return version.invalid("unexpected GroupVersion string: " + text);
  const std::string group = parts.size() == 2 ? parts[0] : "";
  const std::string& last = parts.back();
  const auto told = [&](const std::string& part, const Problems& problems) {
    if (!problems.empty()) version.invalid_as(go_quoted(part), base::join(problems, ","));
  };
  if (!group.empty()) told(group, subdomain_problems(group));
  if (last.empty()) return version.invalid("version must be specified");
  told(last, dns1035_problems(last));
}

void check_param_kind(const Field& param) {
  check_param_version(param["apiVersion"]);
  const Field kind = param["kind"];
  if (kind.empty()) return kind.required();
  const auto problems = dns1035_problems(base::to_lower(kind.text()));
  if (problems.empty()) return;
  kind.invalid("may have mixed case, but should otherwise match: " + base::join(problems, ","));
}

bool is_identifier(const std::string& name) {
  return !name.empty() && !base::is_digit(name.front()) && !cel::is_keyword(name) &&
         !cel::is_reserved_word(name) && std::all_of(name.begin(), name.end(), [](char c) {
           return base::is_alphanumeric(c) || c == '_';
         });
}

void check_variable(const Field& variable, PolicyExpressions& expressions) {
  const Field name = variable["name"];
  if (trimmed(name).empty()) {
    name.required("name is not specified");
  } else if (!is_identifier(name.text())) {
    name.invalid("must be a valid CEL identifier");
  }
  const Field expression = variable["expression"];
  const std::string source = expression.text();
  if (trimmed(expression).empty()) return expression.required("expression is not specified");
  tell(expression, source, expressions.add_variable(name.text(), source));
}

void check_message(const Field& message) {
  if (message.empty()) return;
  const std::string text = trimmed(message);
  if (text.empty()) return message.invalid("must be non-empty if specified");
  if (text.find_first_of("\n\r") != std::string::npos) {
    message.invalid("must not contain line breaks");
  }
}

void check_validation(const Field& validation, const PolicyExpressions& expressions) {
  const Field expression = validation["expression"];
  const std::string source = expression.text();
  if (trimmed(expression).empty()) {
    expression.required("expression is not specified");
  } else {
    tell(expression, source, expressions.problem(source, Gives::truth));
  }
  const Field words = validation["messageExpression"];
  if (!words.empty() && trimmed(words).empty()) {
    words.invalid("must be non-empty if specified");
  } else if (!words.empty()) {
    tell(words, words.text(), expressions.message_problem(words.text()));
  }
  check_message(validation["message"]);
  validation["reason"].one_of({"Forbidden", "Invalid", "RequestEntityTooLarge"});
}

void check_annotation(const Field& annotation, const std::string& policy,
                      const PolicyExpressions& expressions) {
  const Field key = annotation["key"];
  if (policy.empty()) {
    key.invalid_text("requires metadata.name be non-empty");
  } else {
    const std::string full = policy + "/" + key.text();
    for (const auto& problem : qualified_problems(full)) {
      key.invalid_as(go_quoted(full), problem);
    }
  }
  const Field value = annotation["valueExpression"];
  const std::string source = trimmed(value);
  if (source.empty()) return value.required("valueExpression is not specified");
  if (source.size() > kMostValueExpression) {
    return value.required(fmt::format("must not exceed {} bytes in length", kMostValueExpression));
  }
  tell(value, value.text(), expressions.problem(source, Gives::text_or_null));
}

// In the form of the server's own type.
std::string annotations_text(const Field& annotations) {
  Values all;
  for (const auto& one : annotations.items()) {
    all.push_back(fmt::format("{{\"Key\":{},\"ValueExpression\":{}}}", json_text(one["key"].text()),
                              json_text(one["valueExpression"].text())));
  }
  return "[" + base::join(all, ",") + "]";
}

void check_annotations_of_policy(const Field& annotations, const std::string& policy,
                                 const PolicyExpressions& expressions) {
  if (annotations.size() > kMostAnnotations) {
    annotations.invalid_as(
        annotations_text(annotations),
        fmt::format("must not have more than {} auditAnnotations", kMostAnnotations));
  }
  std::set<std::string> keys;
  for (const auto& annotation : annotations.items()) {
    check_annotation(annotation, policy, expressions);
    if (!keys.insert(annotation["key"].text()).second) annotation["key"].duplicate();
  }
}

// Only what makes or changes an object can be changed on its way.
void check_mutable_operations(const Field& match) {
  const Field rules = match["resourceRules"];
  for (const auto& rule : rules.items()) {
    for (const auto& operation : rule["operations"].items()) {
      operation.at(rules.path() + ".operations").one_of({"*", "CONNECT", "CREATE", "UPDATE"});
    }
  }
}

// What policies of both kinds have.
void check_policy(const Field& spec, const Json* live, bool mutating) {
  spec["failurePolicy"].one_of({"Fail", "Ignore"});
  const Field param = spec["paramKind"];
  if (param.present()) check_param_kind(param);
  const Field match = spec["matchConstraints"];
  if (match.present()) {
    check_match(match);
    if (match["resourceRules"].empty()) match["resourceRules"].required();
    if (mutating) check_mutable_operations(match);
  } else {
    match.required();
  }
  const Field conditions = spec["matchConditions"];
  if (live != nullptr) {
    const Field before = Field(*live, spec.errors())["spec"];
    // What did not change is not looked at again.
    if (same_field(param, before["paramKind"]) &&
        same_field(conditions, before["matchConditions"])) {
      return;
    }
  }
  check_match_conditions(conditions, param.present());
}

}  // namespace

void check_validating_policy(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_policy(spec, live, false);
  const Field variables = spec["variables"];
  PolicyExpressions expressions(spec["paramKind"].present(), variables.empty()
                                                                 ? Scope::without_variables
                                                                 : Scope::with_variables);
  for (const auto& variable : variables.items()) check_variable(variable, expressions);
  const Field validations = spec["validations"];
  const Field annotations = spec["auditAnnotations"];
  if (validations.empty() && annotations.empty()) {
    const char* none = "validations or auditAnnotations must contain at least one item";
    validations.required(none);
    return annotations.required(none);
  }
  for (const auto& validation : validations.items()) check_validation(validation, expressions);
  check_annotations_of_policy(annotations, object["metadata"]["name"].text(), expressions);
}

void check_validating_policy_status(const Field& object, const Json* /*live*/) {
  const Field status = object["status"];
  for (const auto& one : status["typeChecking"]["expressionWarnings"].items()) {
    if (one["warning"].empty()) one["warning"].required();
    if (trimmed(one["fieldRef"]).empty()) one["fieldRef"].required();
  }
  check_conditions(status["conditions"]);
}

namespace {

void check_patch(const Field& patch, const std::string& type,
                 const PolicyExpressions& expressions) {
  if (!patch.present()) return patch.required("must be specified when patchType is " + type);
  const Field expression = patch["expression"];
  const std::string source = trimmed(expression);
  if (source.empty()) return expression.required();
  tell(expression, source,
       expressions.mutation_problem(source, type == "JSONPatch" ? "list(JSONPatch)" : "Object"));
}

void check_mutation(const Field& mutation, const PolicyExpressions& expressions) {
  const Field type = mutation["patchType"];
  if (type.empty()) return type.required();
  const bool json = type.is("JSONPatch");
  if (!json && !type.is("ApplyConfiguration")) {
    return type.not_supported({"ApplyConfiguration", "JSONPatch"});
  }
  check_patch(mutation[json ? "jsonPatch" : "applyConfiguration"], type.text(), expressions);
  const std::string other = json ? "applyConfiguration" : "jsonPatch";
  if (!mutation[other].present()) return;
  mutation[other].invalid_as(go_quoted("{" + other + "}"),
                             "must not be specified when patchType is " + type.text());
}

}  // namespace

void check_mutating_policy(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_policy(spec, live, true);
  PolicyExpressions expressions(spec["paramKind"].present(), Scope::with_variables);
  for (const auto& variable : spec["variables"].items()) check_variable(variable, expressions);
  const Field mutations = spec["mutations"];
  if (mutations.empty()) mutations.required("mutations must contain at least one item");
  for (const auto& mutation : mutations.items()) check_mutation(mutation, expressions);
  const Field again = spec["reinvocationPolicy"];
  if (again.empty()) return again.required();
  again.one_of({"IfNeeded", "Never"});
}

namespace {

void check_actions(const Field& actions) {
  static const Values known = {"Audit", "Deny", "Warn"};
  if (actions.empty()) return actions.required("at least one validation action is required");
  std::set<std::string> seen;
  for (const auto& action : actions.items()) {
    // A null in a list is an empty text.
    if (!is_one(action.text(), known)) action.not_supported(known);
    if (!seen.insert(action.text()).second) action.duplicate();
  }
  if (seen.count("Deny") == 0 || seen.count("Warn") == 0) return;
  actions.invalid(
      "must not contain both Deny and Warn (repeating the same validation failure information in "
      "the API response and headers serves no purpose)");
}

// What bindings of both kinds have.
void check_binding(const Field& spec) {
  const Field policy = spec["policyName"];
  if (policy.empty()) policy.required();
  if (!policy.empty()) policy.invalid_each(subdomain_problems(policy.text()));
  check_param_ref(spec["paramRef"]);
  check_match(spec["matchResources"]);
}

}  // namespace

void check_validating_binding(const Field& object, const Json* /*live*/) {
  check_binding(object["spec"]);
  check_actions(object["spec"]["validationActions"]);
}

void check_mutating_binding(const Field& object, const Json* /*live*/) {
  check_binding(object["spec"]);
  check_mutable_operations(object["spec"]["matchResources"]);
}

}  // namespace kubewatch::builtin
