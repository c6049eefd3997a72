#include "schema/cel_validator.hpp"

#include <map>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/cel_rules.hpp"

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

// What a value was before, as far as that is known; and the nearest parent of which it is.
struct Before {
  const Json* old = nullptr;
  const Json* parent_old = nullptr;
  const Json* parent_new = nullptr;

  Before below(const Json& parent, const Json* old_value) const {
    if (old == nullptr) return *this;
    return {old_value, old, &parent};
  }
};

const Json* member(const Json* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &*at;
}

// The items of an old list by their keys; none in lists that are no maps. Of items with the same
// keys the first counts.
class OldItems {
 public:
  OldItems(const Structural& list, const Json* old) : list_(list) {
    if (old == nullptr || !old->is_array() || list.list_type != "map" || !list.list_map_keys) {
      return;
    }
    for (const auto& item : *old) {
      if (item.is_object()) items_.emplace(identity(item), &item);
    }
  }
  const Json* find(const Json& item) const {
    if (items_.empty() || !item.is_object()) return nullptr;
    const auto at = items_.find(identity(item));
    return at == items_.end() ? nullptr : at->second;
  }

 private:
  // An absent key is not one that is null.
  Json identity(const Json& item) const {
    Json out = Json::array();
    for (const auto& key : *list_.list_map_keys) {
      const Json* value = member(&item, key);
      out.push_back(value == nullptr ? Json::array() : Json::array({*value}));
    }
    return out;
  }

  const Structural& list_;
  std::map<Json, const Json*> items_;
};

class Run {
 public:
  explicit Run(FieldErrors& errors) : errors_(errors) {}

  // `old` is what transition rules compare with, `before` what ratcheting does.
  void visit(const RuleNode& node, const Json& value, const Json* old, const Before& before,
             const ValuePlace& place) {
    if (value.is_null() || done()) return;
    if (!node.rules.empty()) evaluate(node, value, old, before, place);
    if (value.is_array() && node.items != nullptr) {
      const OldItems olds(*node.schema, old);
      const OldItems others(*node.schema, before.old == old ? nullptr : before.old);
      for (std::size_t i = 0; i < value.size() && !done(); ++i) {
        const Json* was = olds.find(value[i]);
        const Json* ratchet = before.old == old ? was : others.find(value[i]);
        visit(*node.items, value[i], was, before.below(value, ratchet), place.item(i));
      }
    }
    if (value.is_object()) members(node, value, old, before, place);
  }

 private:
  bool done() const { return over_ || errors_.full(); }

  void members(const RuleNode& node, const Json& value, const Json* old, const Before& before,
               const ValuePlace& place) {
    for (const auto& [key, inner] : value.items()) {
      if (done()) return;
      const RuleNode* below = node.additional.get();
      if (below == nullptr) {
        const auto found = node.properties.find(key);
        if (found == node.properties.end()) continue;
        below = found->second.get();
      }
      const ValuePlace at = node.additional ? place.entry(key) : place.property(key);
      visit(*below, inner, member(old, key), before.below(value, member(before.old, key)), at);
    }
  }

  std::string shown_type(const RuleNode& node) const { return "\"" + node.schema->type + "\""; }

  void evaluate(const RuleNode& node, const Json& value, const Json* old, const Before& before,
                const ValuePlace& place) {
    if (old != nullptr && old->is_null()) old = nullptr;
    const auto self = cel::Value::from_json(value, *node.type.type);
    const auto was = old == nullptr ? cel::Value::error("no such attribute(s): oldSelf")
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
      judge(node, rule, variables, value, before, place);
    }
  }

  void judge(const RuleNode& node, const CompiledRule& rule, std::span<const cel::Value> variables,
             const Json& value, const Before& before, const ValuePlace& place) {
    const auto outcome = rule.program->run(variables, kPerCall);
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
      } else if (why.substr(0, 16) == "no such overload") {
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
    if (!rule.uses_old_self && unchanged(before, value)) return;
    blame(node, rule, variables, value,
          rule.field_path.empty() ? place : place.property(rule.field_path));
  }

  void blame(const RuleNode& node, const CompiledRule& rule, std::span<const cel::Value> variables,
             const Json& value, const ValuePlace& place) {
    auto detail = rule.message == nullptr ? std::nullopt : message(node, rule, variables, place);
    if (over_) return;
    if (!detail) {
      detail = rule.rule->message.empty() ? "failed rule: " + shown_rule(*rule.rule)
                                          : shown_rule(*rule.rule);
    }
    const std::string path = place.text();
    const auto& reason = rule.rule->reason;
    if (reason == "FieldValueForbidden") {
      errors_.push_back(field_forbidden(path, *detail));
    } else if (reason == "FieldValueRequired") {
      errors_.push_back(field_required(path, *detail));
    } else if (reason == "FieldValueDuplicate") {
      errors_.push_back(field_duplicate(path, base::dump_json(value)));
    } else if (value.is_structured()) {
      errors_.push_back({"FieldValueInvalid", "Invalid value: " + *detail, path});
    } else {
      errors_.push_back(field_invalid(path, base::dump_json(value), *detail));
    }
  }

  // Absent when the expression gives no usable message.
  std::optional<std::string> message(const RuleNode& node, const CompiledRule& rule,
                                     std::span<const cel::Value> variables,
                                     const ValuePlace& place) {
    const auto outcome = rule.message->run(variables, kPerCall);
    if (!pay(outcome)) {
      add(place, shown_type(node),
          "messageExpression evaluation failed due to running out of cost budget, no further "
          "validation rules will be run");
      over_ = true;
      return std::nullopt;
    }
    if (outcome.too_costly) {
      add(place, shown_type(node),
          "no further validation rules will be run due to call cost exceeds limit for "
          "messageExpression: " +
              base::dump_json(Json(rule.rule->message_expression)));
      over_ = true;
      return std::nullopt;
    }
    if (!outcome.value.is(cel::Value::Kind::string)) return std::nullopt;
    const auto text = base::trim(outcome.value.text());
    const bool usable =
        !text.empty() && text.size() <= kMaxMessage && text.find('\n') == std::string_view::npos;
    return usable ? std::optional(std::string(text)) : std::nullopt;
  }

  // The items of a list that have nothing of their own to be compared with ask for the same parent,
  // one after the other: it is compared once.
  bool unchanged(const Before& before, const Json& value) {
    if (before.old != nullptr) return *before.old == value;
    if (before.parent_old == nullptr) return false;
    if (compared_old_ != before.parent_old || compared_new_ != before.parent_new) {
      compared_old_ = before.parent_old;
      compared_new_ = before.parent_new;
      compared_equal_ = *compared_old_ == *compared_new_;
    }
    return compared_equal_;
  }

  bool pay(const cel::Program::Outcome& outcome) {
    used_ += outcome.used;
    if (outcome.cost > static_cast<std::uint64_t>(budget_) || used_ > kMostUsed) return false;
    budget_ -= static_cast<std::int64_t>(outcome.cost);
    return true;
  }

  void add(const ValuePlace& place, const std::string& shown, const std::string& detail) {
    errors_.push_back(field_invalid(place.text(), shown, detail));
  }

  FieldErrors& errors_;
  std::int64_t budget_ = kPerObject;
  std::uint64_t used_ = 0;
  bool over_ = false;
  const Json* compared_old_ = nullptr;
  const Json* compared_new_ = nullptr;
  bool compared_equal_ = false;
};

class Validator : public CompiledRules {
 public:
  Validator(StructuralPtr schema, bool is_resource_root)
      : schema_(std::move(schema)),
        types_(*schema_, is_resource_root),
        root_(make_node(*schema_, types_)) {}
  bool empty() const { return root_ == nullptr; }

  void evaluate(const Json& value, const Json* old_value, const std::string& path,
                FieldErrors& errors) const override {
    Run(errors).visit(*root_, value, old_value, {old_value, nullptr, nullptr},
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
