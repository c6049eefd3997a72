#include "schema/cel_validator.hpp"

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/cel_rules.hpp"
#include "schema/go_words.hpp"
#include "schema/ratcheting.hpp"

namespace kubewatch::schema {

namespace {

constexpr std::uint64_t kPerCall = 1000000;
constexpr std::int64_t kPerObject = 10000000;
constexpr std::uint64_t kMostUsed = 4 * cel::Allowance::kBytes;  // by all calls for an object
constexpr std::size_t kMaxMessage = 5 << 10;

// A schema node that has rules, or that leads to some.
struct RuleNode {
  const Structural* schema = nullptr;
  DeclaredType type;
  std::vector<CompiledRule> rules;
  bool uses_old_self = false;  // one of them does
  std::unique_ptr<RuleNode> items;
  std::unique_ptr<RuleNode> additional;
  std::map<std::string, std::unique_ptr<RuleNode>, std::less<>> properties;
};

std::unique_ptr<RuleNode> make_node(const Structural& schema, const DeclaredTypes& types) {
  const auto* type = types.find(schema);
  if (type == nullptr || !type->declared()) return nullptr;
  auto node = std::make_unique<RuleNode>();
  node->schema = &schema;
  node->type = *type;
  node->rules = compile_rules(schema, *type->type);
  node->uses_old_self = std::any_of(node->rules.begin(), node->rules.end(),
                                    [](const CompiledRule& rule) { return rule.uses_old_self; });
  if (schema.items != nullptr) node->items = make_node(*schema.items, types);
  if (schema.additional_properties != nullptr) {
    node->additional = make_node(*schema.additional_properties, types);
  }
  for (const auto& [name, inner] : schema.properties) {
    if (auto below = make_node(*inner, types)) node->properties[name] = std::move(below);
  }
  const bool empty = node->rules.empty() && node->items == nullptr && node->additional == nullptr &&
                     node->properties.empty();
  return empty ? nullptr : std::move(node);
}

// A value and what it was before, with the schema of both.
struct Change {
  const Structural* schema = nullptr;
  const Json* old = nullptr;  // null: there is no such value
  const Json* value = nullptr;
};

// As the server names a field: the object itself has no path.
std::string field_at(const ValuePlace& place) {
  std::string text = place.text();
  return text.empty() ? "<nil>" : text;
}

const Json* member(const Json* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &*at;
}

class Run {
 public:
  Run(const RuleNode& root, FieldErrors& errors, FieldErrors& tolerated)
      : root_(root), errors_(errors), tolerated_(tolerated) {}

  // `old`: what the value was before, null where it cannot be told. `nearest`: of the value and its
  // parents the first of which it can.
  void visit(const RuleNode& node, const Json& value, const Json* old, const Change& nearest,
             const ValuePlace& place) {
    if (value.is_null() || done()) return;
    if (!node.rules.empty()) evaluate(node, value, old, nearest, place);
    if (value.is_array() && node.items != nullptr) {
      const OldItems olds(*node.schema, old);
      for (std::size_t i = 0; i < value.size() && !done(); ++i) {
        below(*node.items, value[i], olds.find(value[i]), nearest, place.item(i));
      }
    }
    if (value.is_object()) members(node, value, old, nearest, place);
  }

 private:
  bool done() const { return over_ || errors_.full(); }

  void below(const RuleNode& node, const Json& value, const Json* old, const Change& nearest,
             const ValuePlace& place) {
    visit(node, value, old, old == nullptr ? nearest : Change{node.schema, old, &value}, place);
  }

  void members(const RuleNode& node, const Json& value, const Json* old, const Change& nearest,
               const ValuePlace& place) {
    for (const auto& [key, inner] : value.items()) {
      if (done()) return;
      const RuleNode* found = node.additional.get();
      if (found == nullptr) {
        const auto property = node.properties.find(key);
        if (property == node.properties.end()) continue;
        found = property->second.get();
      }
      const ValuePlace at = node.additional ? place.entry(key) : place.property(key);
      // The server sees both objects in one version: what of these changed cannot be told.
      if (&node == &root_ && (key == "apiVersion" || key == "kind")) {
        visit(*found, inner, member(old, key), {}, at);
      } else {
        below(*found, inner, member(old, key), nearest, at);
      }
    }
  }

  std::string shown_type(const RuleNode& node) const { return "\"" + node.schema->type + "\""; }

  void evaluate(const RuleNode& node, const Json& value, const Json* old, const Change& nearest,
                const ValuePlace& place) {
    if (old != nullptr && old->is_null()) old = nullptr;
    const auto self = cel::Value::from_json(value, *node.type.type);
    // Messages have oldSelf only where a rule beside them asks for it.
    const auto was = old == nullptr || !node.uses_old_self
                         ? cel::Value::error("no such attribute(s): oldSelf")
                         : cel::Value::from_json(*old, *node.type.type);
    for (const auto& rule : node.rules) {
      if (done()) return;
      if (!rule.error.empty()) {
        add(place, shown_type(node), "rule compile error: " + rule.error);
        continue;
      }
      if (rule.program == nullptr) continue;
      const bool optional = rule.rule->optional_old_self.value_or(false);
      if (rule.uses_old_self && old == nullptr && !optional) continue;
      auto old_self = was;
      if (optional) old_self = old == nullptr ? cel::Value::none() : cel::Value::some(was);
      const cel::Value variables[] = {self, old_self};
      // The message gets the value alone, even where its rule is written for an optional one.
      const cel::Value for_message[] = {self, was};
      judge(node, rule, {variables, for_message}, nearest, value, place);
    }
  }

  struct Variables {
    std::span<const cel::Value> of_rule;
    std::span<const cel::Value> of_message;
  };

  void judge(const RuleNode& node, const CompiledRule& rule, const Variables& variables,
             const Change& nearest, const Json& value, const ValuePlace& place) {
    const auto outcome = rule.program->run(variables.of_rule, kPerCall);
    const auto shown = shown_rule(*rule.rule);
    if (!pay(outcome)) {
      add(place, shown_type(node),
          "validation failed due to running out of cost budget, no further validation rules will "
          "be run");
      over_ = true;
      return;
    }
    if (outcome.value.is_error()) {
      const std::string why(outcome.value.text());
      if (outcome.too_costly) {
        add(place, shown_type(node),
            "'" + why +
                "': no further validation rules will be run due to "
                "call cost exceeds limit for rule: " +
                shown);
        over_ = true;
      } else if (why.starts_with("no such overload")) {
        add(place, shown_type(node),
            "'" + why +
                "': call arguments did not match a supported "
                "operator, function or macro signature for rule: " +
                shown);
      } else {
        add(place, shown_type(node), why + " evaluating rule: " + shown);
      }
      return;
    }
    if (outcome.value.is_true()) return;
    const bool excused = !rule.uses_old_self && unchanged(nearest);
    blame(node, rule, variables.of_message, value,
          rule.field_path.empty() ? place : place.property(rule.field_path),
          excused ? tolerated_ : errors_);
  }

  // The message is made, and paid, even where nobody is refused for it.
  void blame(const RuleNode& node, const CompiledRule& rule, std::span<const cel::Value> variables,
             const Json& value, const ValuePlace& place, FieldErrors& into) {
    auto detail =
        rule.message == nullptr ? std::nullopt : message(node, rule, variables, place, into);
    if (over_ || into.full()) return;
    if (!detail) {
      detail = rule.rule->message.empty() ? "failed rule: " + shown_rule(*rule.rule)
                                          : shown_rule(*rule.rule);
    }
    const std::string path = field_at(place);
    const auto& reason = rule.rule->reason;
    if (reason == "FieldValueForbidden") {
      into.push_back(field_forbidden(path, *detail));
    } else if (reason == "FieldValueRequired") {
      into.push_back(field_required(path, *detail));
    } else if (reason == "FieldValueDuplicate") {
      into.push_back(field_duplicate(path, shown_value(value)));
    } else if (value.is_structured()) {
      into.push_back({"FieldValueInvalid", "Invalid value: " + *detail, path});
    } else {
      into.push_back(field_invalid(path, shown_value(value), *detail));
    }
  }

  // Absent when the expression gives no usable message.
  std::optional<std::string> message(const RuleNode& node, const CompiledRule& rule,
                                     std::span<const cel::Value> variables, const ValuePlace& place,
                                     FieldErrors& into) {
    const auto outcome = rule.message->run(variables, kPerCall);
    if (!pay(outcome)) {
      add(into, place, shown_type(node),
          "messageExpression evaluation failed due to running out of cost budget, no further "
          "validation rules will be run");
      over_ = true;
      return std::nullopt;
    }
    if (outcome.too_costly) {
      add(into, place, shown_type(node),
          "no further validation rules will be run due to call cost exceeds limit for "
          "messageExpression: " +
              base::json_quoted(rule.rule->message_expression));
      over_ = true;
      return std::nullopt;
    }
    if (!outcome.value.is(cel::Value::Kind::string)) return std::nullopt;
    const auto text = base::trim(outcome.value.text());
    const bool usable =
        !text.empty() && text.size() <= kMaxMessage && text.find('\n') == std::string_view::npos;
    return usable ? std::optional(std::string(text)) : std::nullopt;
  }

  bool unchanged(const Change& nearest) {
    return nearest.old != nullptr && same_.equal(*nearest.schema, *nearest.old, *nearest.value);
  }

  bool pay(const cel::Program::Outcome& outcome) {
    used_ += outcome.used;
    if (outcome.cost > static_cast<std::uint64_t>(budget_) || used_ > kMostUsed) return false;
    budget_ -= static_cast<std::int64_t>(outcome.cost);
    return true;
  }

  void add(const ValuePlace& place, const std::string& shown, const std::string& detail) {
    add(errors_, place, shown, detail);
  }
  static void add(FieldErrors& into, const ValuePlace& place, const std::string& shown,
                  const std::string& detail) {
    into.push_back(field_invalid(field_at(place), shown, detail));
  }

  const RuleNode& root_;
  FieldErrors& errors_;
  FieldErrors& tolerated_;
  std::int64_t budget_ = kPerObject;
  std::uint64_t used_ = 0;
  bool over_ = false;
  RatchetingEquality same_;
};

class Validator : public CompiledRules {
 public:
  Validator(StructuralPtr schema, bool is_resource_root)
      : schema_(std::move(schema)),
        types_(*schema_, is_resource_root),
        root_(make_node(*schema_, types_)) {}
  bool empty() const { return root_ == nullptr; }

  void evaluate(const Json& value, const Json* old_value, const std::string& path,
                FieldErrors& errors, FieldErrors& tolerated) const override {
    Run(*root_, errors, tolerated)
        .visit(*root_, value, old_value, {schema_.get(), old_value, &value},
               ValuePlace::root(path));
  }

 private:
  StructuralPtr schema_;
  DeclaredTypes types_;
  std::unique_ptr<RuleNode> root_;
};

}  // namespace

std::shared_ptr<const CompiledRules> make_rule_validator(const StructuralPtr& schema,
                                                         bool is_resource_root) {
  auto validator = std::make_shared<Validator>(schema, is_resource_root);
  return validator->empty() ? nullptr : validator;
}

}  // namespace kubewatch::schema
