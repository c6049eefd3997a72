// What an API server finds wrong with the rules of a definition when it is written:
// cel_validator.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "core/go_json.hpp"
#include "schema/cel_rules.hpp"
#include "schema/cel_validator.hpp"

namespace kubewatch::schema {

namespace {

constexpr std::uint64_t kPerExpression = 10000000;
constexpr std::uint64_t kPerDefinition = 100000000;
constexpr std::size_t kMostExpensive = 4;

// As the server shows it: its internal type as JSON, the fields in their order there.
std::string shown(const ValidationRule& rule) {
  const auto optional = [](const Json& value, bool has) {
    return has ? core::go_json(value) : "null";
  };
  const auto& old_self = rule.optional_old_self;
  return R"({"Rule":)" + core::go_json(rule.rule) + R"(,"Message":)" + core::go_json(rule.message) +
         R"(,"MessageExpression":)" + core::go_json(rule.message_expression) + R"(,"Reason":)" +
         optional(rule.reason, !rule.reason.empty()) + R"(,"FieldPath":)" +
         core::go_json(rule.field_path) + R"(,"OptionalOldSelf":)" +
         optional(old_self.value_or(false), old_self.has_value()) + "}";
}

std::string over_budget(const std::string& what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  std::string times = "more than 100x";
  if (factor <= 100)
    times = factor < 1.5 ? fmt::format("{:f}x", factor) : fmt::format("{:.1f}x", factor);
  return what + " exceeds budget by factor of " + times +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
         "arrays, maps, and strings are declared)";
}

// How often a node may occur; absent: no bound but the size of a request.
using Cardinality = std::optional<std::uint64_t>;

Cardinality inside(const Structural& schema, const Cardinality& outside) {
  if (!outside) return std::nullopt;
  std::optional<std::int64_t> most = 1;
  if (schema.is_array()) most = schema.max_items;
  if (schema.is_object() &&
      (schema.additional_properties != nullptr || schema.additional_allowed)) {
    most = schema.max_properties;
  }
  if (!most) return std::nullopt;
  return cel::times_bounded(*outside, static_cast<std::uint64_t>(std::max<std::int64_t>(*most, 0)));
}

class RuleCheck {
 public:
  RuleCheck(const std::string& base, bool keep_cost, FieldErrors& errors,
            const DeclaredTypes& types)
      : base_(base), keep_cost_(keep_cost), errors_(errors), types_(types) {}

  void visit(const Structural& schema, const Cardinality& cardinality,
             const Structural* uncorrelated) {
    const auto below = inside(schema, cardinality);
    if (schema.additional_properties != nullptr) {
      visit(*schema.additional_properties, below, uncorrelated);
    }
    for (const auto& [name, property] : schema.properties) visit(*property, below, uncorrelated);
    if (schema.items != nullptr) {
      const bool loses = schema.list_type != "map" && uncorrelated == nullptr;
      visit(*schema.items, below, loses ? &schema : uncorrelated);
    }
    if (!schema.validations.empty()) rules(schema, cardinality, uncorrelated);
  }

  void total() {
    if (total_ <= kPerDefinition) return;
    std::stable_sort(expensive_.begin(), expensive_.end(), [](const auto& left, const auto& right) {
      return left.second > right.second;
    });
    if (expensive_.size() > kMostExpensive) expensive_.resize(kMostExpensive);
    for (const auto& [place, cost] : expensive_) {
      errors_.push_back(field_forbidden(text(place),
                                        "contributed to estimated rule cost total exceeding "
                                        "cost limit for entire OpenAPIv3 schema"));
    }
    errors_.push_back(field_forbidden(
        base_,
        over_budget("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 "
                    "schema",
                    total_, kPerDefinition)));
  }

 private:
  // An expression of a rule; its path is written out when something is said of it.
  struct Place {
    const Structural* schema;
    std::size_t rule;
    const char* field;  // "rule", "messageExpression"
  };
  std::string path_of_rules(const Structural& schema) const {
    return join_path(base_, schema.path()) + ".x-kubernetes-validations";
  }
  std::string text(const Place& place) const {
    return fmt::format("{}[{}].{}", path_of_rules(*place.schema), place.rule, place.field);
  }

  void rules(const Structural& schema, const Cardinality& cardinality,
             const Structural* uncorrelated) {
    const auto* type = types_.find(schema);
    if (type == nullptr || !type->declared()) {
      errors_.push_back(field_internal(path_of_rules(schema),
                                       "internal error: failed to retrieve type information for "
                                       "x-kubernetes-validations"));
      return;
    }
    const auto times =
        cardinality.value_or(static_cast<std::uint64_t>(kMaxRequestBytes / (type->min_size + 1)));
    const auto compiled = compile_rules(schema, *type->type);
    for (std::size_t i = 0; i < compiled.size(); ++i) {
      one(compiled[i], {&schema, i, "rule"}, times, uncorrelated);
    }
  }

  void one(const CompiledRule& rule, const Place& at, std::uint64_t times,
           const Structural* uncorrelated) {
    const Place message{at.schema, at.rule, "messageExpression"};
    pay(at, "estimated rule cost", cel::times_bounded(rule.max_cost, times));
    if (!rule.error.empty()) {
      errors_.push_back(field_invalid(text(at), shown(*rule.rule), rule.error));
    }
    if (!rule.message_error.empty()) {
      errors_.push_back(field_invalid(text(message), shown(*rule.rule), rule.message_error));
    } else if (rule.message != nullptr) {
      pay(message, "estimated messageExpression cost", rule.message_cost);
    }
    if (rule.uses_old_self && uncorrelated != nullptr) {
      errors_.push_back(field_invalid(
          text(at), base::json_quoted(rule.rule->rule),
          "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
              join_path(base_, uncorrelated->path())));
    }
    if (!rule.uses_old_self && rule.rule->optional_old_self) {
      errors_.push_back(field_invalid(text({at.schema, at.rule, "optionalOldSelf"}),
                                      *rule.rule->optional_old_self ? "true" : "false",
                                      "may not be set if oldSelf is not used in rule"));
    }
  }

  void pay(const Place& place, const char* what, std::uint64_t cost) {
    if (!keep_cost_ && cost > kPerExpression) {
      errors_.push_back(field_forbidden(text(place), over_budget(what, cost, kPerExpression)));
    }
    total_ = cel::add_bounded(total_, cost);
    if (cost >= kPerDefinition / 100) expensive_.emplace_back(place, cost);
  }

  const std::string& base_;
  const bool keep_cost_;
  FieldErrors& errors_;
  const DeclaredTypes& types_;
  std::uint64_t total_ = 0;
  std::vector<std::pair<Place, std::uint64_t>> expensive_;
};

class CelRuleChecker : public RuleChecker {
 public:
  void check(const StructuralPtr& root, const std::string& path, bool keep_cost,
             FieldErrors& errors) const override {
    const DeclaredTypes types(*root, true);
    RuleCheck check(path, keep_cost, errors, types);
    check.visit(*root, 1, nullptr);
    check.total();
  }
  std::shared_ptr<const CompiledRules> compile(const StructuralPtr& schema,
                                               bool is_resource_root) const override {
    return make_rule_validator(schema, is_resource_root);
  }
};

}  // namespace

const RuleChecker& rule_checker() {
  static const CelRuleChecker checker;
  return checker;
}

}  // namespace kubewatch::schema
