#include "schema/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "schema/formats.hpp"
#include "schema/validator_node.hpp"
#include "schema/validator_run.hpp"

namespace kubewatch::schema {

std::string go_number(double value) {
  // No JSON has them, and the server none either; what asks all the same is answered.
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
  std::string text(digits, end.ptr);
  const std::size_t mark = text.find('e');
  const int exponent = std::stoi(text.substr(mark + 1));
  if (exponent < -4 || exponent >= 6) return text;
  const auto plain = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  return {digits, plain.ptr};
}

std::string go_number(const Json& value) {
  return whole_of(value) ? base::dump_json(value) : go_number(value.get<double>());
}

const Validator::Node* Validator::Node::property(std::string_view key,
                                                 Properties::const_iterator& from) const {
  if (from == properties.end() || from->first != key) {
    from = std::lower_bound(
        from, properties.end(), key,
        [](const auto& one, std::string_view wanted) { return one.first < wanted; });
  }
  return from != properties.end() && from->first == key ? (from++)->second.get() : nullptr;
}

std::size_t Issue::bytes() const {
  std::size_t out = name.size() + text.size() + shown.size();
  for (const auto& one : supported) out += sizeof(one) + one.size();
  return out;
}

void Outcome::add(Issue issue) {
  constexpr std::size_t kMany = 16;
  const auto same = [&](const Issue& other) { return other.text == issue.text; };
  if (issues.size() < kMany) {
    if (std::any_of(issues.begin(), issues.end(), same)) return;
  } else {
    if (seen_ == nullptr) {
      seen_ = std::make_unique<std::unordered_set<std::string>>();
      for (const auto& one : issues) seen_->insert(one.text);
    }
    if (!seen_->insert(issue.text).second) return;
  }
  issues.push_back(std::move(issue));
}

void Outcome::merge(Outcome&& other) {
  matches += other.matches;
  for (auto& issue : other.issues) add(std::move(issue));
}

namespace {

std::string kept_format(const Structural& schema, const std::string& types, bool for_defaults) {
  if (schema.format.empty()) return "";
  if (for_defaults) return schema.format;
  return is_known_format(types.find(',') == std::string::npos ? types : "", schema.format)
             ? schema.format
             : "";
}

}  // namespace

std::unique_ptr<Validator::Node> Validator::build(const Structural& schema, bool for_defaults) {
  auto node = std::make_unique<Node>();
  node->schema = &schema;
  node->types = schema.type;
  if (schema.int_or_string && !for_defaults) node->types = "integer,string";
  node->integer = node->types.find("integer") != std::string::npos;
  node->number = node->types == "number";
  node->any_type = node->types.empty();
  node->format = kept_format(schema, node->types, for_defaults);
  if (!schema.pattern.empty()) {
    auto pattern = base::Regex::compile(schema.pattern);
    if (pattern) {
      node->pattern.emplace(std::move(pattern).value());
    } else {
      node->bad_pattern = pattern.error().message();
    }
  }
  for (const auto& [key, below] : schema.properties) {
    node->properties.emplace_back(key, build(*below, for_defaults));
  }
  if (schema.additional_properties) {
    node->additional = build(*schema.additional_properties, for_defaults);
  }
  if (schema.items) node->items = build(*schema.items, for_defaults);
  for (const auto& one : schema.all_of) node->all_of.push_back(build(*one, for_defaults));
  for (const auto& one : schema.any_of) node->any_of.push_back(build(*one, for_defaults));
  for (const auto& one : schema.one_of) node->one_of.push_back(build(*one, for_defaults));
  if (schema.not_schema) node->not_node = build(*schema.not_schema, for_defaults);
  return node;
}

Validator::Validator(StructuralPtr schema, bool for_defaults) : schema_(std::move(schema)) {
  root_ = build(*schema_, for_defaults);
}
Validator::~Validator() = default;
Validator::Validator(Validator&&) noexcept = default;

namespace {

// The server's field of a name: its paths begin with a dot where a key is no property.
std::string field_of(const std::string& base, std::string name) {
  if (!name.empty() && name[0] == '.') name.erase(0, 1);
  if (name.empty()) return base.empty() ? "<nil>" : base;
  return base.empty() ? name : base + "." + name;
}

FieldError placed(const std::string& base, const Issue& issue) {
  std::string field =
      issue.kind == Issue::Kind::plain ? field_of(base, "") : field_of(base, issue.name);
  switch (issue.kind) {
    case Issue::Kind::plain: return field_invalid(std::move(field), "\"\"", issue.text);
    case Issue::Kind::invalid: return field_invalid(std::move(field), issue.shown, issue.text);
    case Issue::Kind::type_invalid:
      return field_type_invalid(std::move(field), issue.shown, issue.text);
    case Issue::Kind::required: return field_required(std::move(field));
    case Issue::Kind::not_supported:
      return field_not_supported(std::move(field), issue.shown, issue.supported);
    case Issue::Kind::too_long:
      return field_too_long(std::move(field), static_cast<std::size_t>(issue.most));
    case Issue::Kind::too_many: return field_too_many(std::move(field), issue.actual, issue.most);
  }
  return {};
}

}  // namespace

void Validator::validate(const Json& value, const Json* old, const std::string& base,
                         FieldErrors& errors) const {
  Outcome outcome = Run().check_update(*root_, value, ValuePlace::root(), nullptr);
  if (outcome.fine()) return;
  // Correlating with the old value costs; only who has errors pays.
  if (old != nullptr) outcome = Run().check_update(*root_, value, ValuePlace::root(), old);
  for (const auto& issue : outcome.issues) errors.push_back(placed(base, issue));
}

}  // namespace kubewatch::schema
