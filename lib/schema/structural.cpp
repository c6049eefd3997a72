#include "schema/structural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

// Keywords by what the server's own type holds; what is not here is unknown and passed over.
class Parser {
 public:
  explicit Parser(const StructuralLimits& limits) : limits_(limits) {}

  using Step = std::shared_ptr<const SchemaStep>;

  Result<StructuralPtr> parse(const Json& from, Step step, std::size_t depth);

 private:
  using Node = Structural;

  Error misread(const Json& value, const char* keyword, const char* go_type) const {
    return Error(
        ErrorKind::invalid,
        misread_field(json_word(value), fmt::format("JSONSchemaProps.{}", keyword), go_type));
  }

  Result<void> read_text(const Json& from, const char* keyword, std::string& into) const;
  Result<void> read_flag(const Json& from, const char* keyword, bool& into) const;
  Result<void> read_count(const Json& from, const char* keyword,
                          std::optional<std::int64_t>& into) const;
  Result<void> read_number(const Json& from, const char* keyword,
                           std::optional<double>& into) const;
  Result<void> read_texts(const Json& from, const char* keyword,
                          std::optional<std::vector<std::string>>& into) const;
  Result<void> read_scalars(const Json& from, Node& node) const;
  Result<void> read_extensions(const Json& from, Node& node) const;
  Result<void> read_rules(const Json& from, Node& node) const;
  Result<void> read_bounds(const Json& from, Node& node) const;
  Result<void> read_children(const Json& from, Node& node, std::size_t depth);
  Result<void> read_combined(const Json& from, Node& node, std::size_t depth);
  void note_forbidden(const Json& from, Node& node) const;

  StructuralLimits limits_;
  std::size_t nodes_ = 0;
};

// Null members mean the same as absent ones, apart from `default` and `example`.
const Json* at(const Json& from, const char* keyword) {
  return base::present_at(from, {keyword});
}

Result<void> Parser::read_text(const Json& from, const char* keyword, std::string& into) const {
  const Json* value = at(from, keyword);
  if (value == nullptr) return {};
  if (!value->is_string()) return misread(*value, keyword, "string");
  into = value->get<std::string>();
  return {};
}

Result<void> Parser::read_flag(const Json& from, const char* keyword, bool& into) const {
  const Json* value = at(from, keyword);
  if (value == nullptr) return {};
  if (!value->is_boolean()) return misread(*value, keyword, "bool");
  into = value->get<bool>();
  return {};
}

Result<void> Parser::read_count(const Json& from, const char* keyword,
                                std::optional<std::int64_t>& into) const {
  const Json* value = at(from, keyword);
  if (value == nullptr) return {};
  if (!value->is_number_integer()) return misread(*value, keyword, "int64");
  into = value->get<std::int64_t>();
  return {};
}

Result<void> Parser::read_number(const Json& from, const char* keyword,
                                 std::optional<double>& into) const {
  const Json* value = at(from, keyword);
  if (value == nullptr) return {};
  if (!value->is_number()) return misread(*value, keyword, "float64");
  into = value->get<double>();
  return {};
}

Result<void> Parser::read_texts(const Json& from, const char* keyword,
                                std::optional<std::vector<std::string>>& into) const {
  const Json* value = at(from, keyword);
  if (value == nullptr) return {};
  if (!value->is_array()) return misread(*value, keyword, "[]string");
  std::vector<std::string> texts;
  for (const auto& one : *value) {
    if (!one.is_string()) return misread(one, keyword, "string");
    texts.push_back(one.get<std::string>());
  }
  into = std::move(texts);
  return {};
}

Result<void> Parser::read_scalars(const Json& from, Node& node) const {
  KW_TRY(read_text(from, "type", node.type));
  KW_TRY(read_text(from, "title", node.title));
  KW_TRY(read_text(from, "description", node.description));
  KW_TRY(read_text(from, "format", node.format));
  KW_TRY(read_text(from, "pattern", node.pattern));
  KW_TRY(read_flag(from, "nullable", node.nullable));
  if (const Json* value = at(from, "default")) node.default_value = *value;
  if (const Json* value = at(from, "example")) node.example = *value;
  if (const Json* docs = at(from, "externalDocs")) {
    if (!docs->is_object()) return misread(*docs, "externalDocs", "ExternalDocumentation");
    ExternalDocs out;
    KW_TRY(read_text(*docs, "description", out.description));
    KW_TRY(read_text(*docs, "url", out.url));
    node.external_docs = std::move(out);
  }
  std::optional<std::vector<std::string>> required;
  KW_TRY(read_texts(from, "required", required));
  if (required) node.required = std::move(*required);
  if (const Json* values = at(from, "enum")) {
    if (!values->is_array()) return misread(*values, "enum", "[]v1.JSON");
    node.enum_values.emplace(values->begin(), values->end());
  }
  return {};
}

Result<void> Parser::read_bounds(const Json& from, Node& node) const {
  KW_TRY(read_number(from, "maximum", node.maximum));
  KW_TRY(read_flag(from, "exclusiveMaximum", node.exclusive_maximum));
  KW_TRY(read_number(from, "minimum", node.minimum));
  KW_TRY(read_flag(from, "exclusiveMinimum", node.exclusive_minimum));
  KW_TRY(read_number(from, "multipleOf", node.multiple_of));
  KW_TRY(read_count(from, "maxLength", node.max_length));
  KW_TRY(read_count(from, "minLength", node.min_length));
  KW_TRY(read_count(from, "maxItems", node.max_items));
  KW_TRY(read_count(from, "minItems", node.min_items));
  KW_TRY(read_count(from, "maxProperties", node.max_properties));
  return read_count(from, "minProperties", node.min_properties);
}

Result<void> Parser::read_rules(const Json& from, Node& node) const {
  const Json* rules = at(from, "x-kubernetes-validations");
  if (rules == nullptr) return {};
  if (!rules->is_array()) return misread(*rules, "x-kubernetes-validations", "ValidationRules");
  for (const auto& one : *rules) {
    if (!one.is_object()) return misread(one, "x-kubernetes-validations", "v1.ValidationRule");
    ValidationRule rule;
    KW_TRY(read_text(one, "rule", rule.rule));
    KW_TRY(read_text(one, "message", rule.message));
    KW_TRY(read_text(one, "messageExpression", rule.message_expression));
    KW_TRY(read_text(one, "reason", rule.reason));
    KW_TRY(read_text(one, "fieldPath", rule.field_path));
    if (at(one, "optionalOldSelf") != nullptr) {
      bool value = false;
      KW_TRY(read_flag(one, "optionalOldSelf", value));
      rule.optional_old_self = value;
    }
    node.validations.push_back(std::move(rule));
  }
  return {};
}

Result<void> Parser::read_extensions(const Json& from, Node& node) const {
  if (at(from, "x-kubernetes-preserve-unknown-fields") != nullptr) {
    bool value = false;
    KW_TRY(read_flag(from, "x-kubernetes-preserve-unknown-fields", value));
    node.preserve_unknown_fields = value;
  }
  KW_TRY(read_flag(from, "x-kubernetes-embedded-resource", node.embedded_resource));
  KW_TRY(read_flag(from, "x-kubernetes-int-or-string", node.int_or_string));
  KW_TRY(read_texts(from, "x-kubernetes-list-map-keys", node.list_map_keys));
  for (const auto& [keyword, into] : {std::pair{"x-kubernetes-list-type", &node.list_type},
                                      std::pair{"x-kubernetes-map-type", &node.map_type}}) {
    if (at(from, keyword) == nullptr) continue;
    std::string value;
    KW_TRY(read_text(from, keyword, value));
    *into = std::move(value);
  }
  return read_rules(from, node);
}

void Parser::note_forbidden(const Json& from, Node& node) const {
  // With nothing in them they are there all the same.
  static constexpr std::array<std::string_view, 3> kPointers = {"$ref", "additionalItems",
                                                                "dependencies"};
  static constexpr std::array kKeywords = {
      "$ref",         "$schema",       "id",         "definitions",
      "dependencies", "discriminator", "deprecated", "patternProperties",
      "readOnly",     "writeOnly",     "xml",        "additionalItems"};
  for (const char* keyword : kKeywords) {
    const Json* value = at(from, keyword);
    if (value == nullptr) continue;
    const bool nothing = *value == "" || (value->is_structured() && value->empty());
    if (nothing && std::count(kPointers.begin(), kPointers.end(), std::string_view(keyword)) == 0) {
      continue;
    }
    node.forbidden.emplace_back(keyword);
  }
  const Json* unique = at(from, "uniqueItems");
  if (unique != nullptr && *unique == true) node.forbidden.emplace_back("uniqueItems");
  const Json* items = at(from, "items");
  if (items != nullptr && items->is_array() && !items->empty()) {
    node.forbidden.emplace_back("items");
  }
}

std::shared_ptr<const SchemaStep> below(const Structural& node, std::string text) {
  return std::make_shared<const SchemaStep>(SchemaStep{node.step, std::move(text)});
}

Result<void> Parser::read_children(const Json& from, Node& node, std::size_t depth) {
  if (const Json* properties = at(from, "properties")) {
    if (!properties->is_object()) {
      return misread(*properties, "properties", "map[string]v1.JSONSchemaProps");
    }
    for (const auto& [key, schema] : properties->items()) {
      KW_ASSIGN(node.properties[key],
                parse(schema, below(node, fmt::format("properties[{}]", key)), depth + 1));
    }
  }
  if (const Json* additional = at(from, "additionalProperties")) {
    if (additional->is_boolean()) {
      node.additional_allowed = additional->get<bool>();
    } else if (additional->is_object()) {
      KW_ASSIGN(node.additional_properties,
                parse(*additional, below(node, "additionalProperties"), depth + 1));
      node.additional_allowed = true;
    } else {
      return Error(ErrorKind::invalid, "boolean or JSON schema expected");
    }
  }
  const Json* items = at(from, "items");
  if (items != nullptr && items->is_object()) {
    KW_ASSIGN(node.items, parse(*items, below(node, "items"), depth + 1));
  } else if (items != nullptr && !items->is_array()) {
    return misread(*items, "items", "v1.JSONSchemaPropsOrArray");
  }
  return {};
}

Result<void> Parser::read_combined(const Json& from, Node& node, std::size_t depth) {
  for (const auto& [keyword, into] :
       {std::pair{"allOf", &node.all_of}, std::pair{"anyOf", &node.any_of},
        std::pair{"oneOf", &node.one_of}}) {
    const Json* list = at(from, keyword);
    if (list == nullptr) continue;
    if (!list->is_array()) return misread(*list, keyword, "[]v1.JSONSchemaProps");
    std::size_t index = 0;
    for (const auto& one : *list) {
      KW_ASSIGN(StructuralPtr parsed,
                parse(one, below(node, fmt::format("{}[{}]", keyword, index++)), depth + 1));
      into->push_back(std::move(parsed));
    }
  }
  if (const Json* one = at(from, "not")) {
    KW_ASSIGN(node.not_schema, parse(*one, below(node, "not"), depth + 1));
  }
  return {};
}

Result<StructuralPtr> Parser::parse(const Json& from, Step step, std::size_t depth) {
  auto node = std::make_shared<Node>();
  node->step = std::move(step);
  if (depth > limits_.max_depth) {
    return Error(ErrorKind::too_large,
                 fmt::format("{}: the schema is nested more than {} levels deep", node->path(),
                             limits_.max_depth));
  }
  if (++nodes_ > limits_.max_nodes) {
    return Error(ErrorKind::too_large,
                 fmt::format("the schema has more than {} parts", limits_.max_nodes));
  }
  if (from.is_null()) return StructuralPtr(std::move(node));  // as Go reads null: nothing set
  if (!from.is_object()) {
    return Error(ErrorKind::invalid, misread_value(json_word(from), "v1.JSONSchemaProps"));
  }
  KW_TRY(read_scalars(from, *node));
  KW_TRY(read_bounds(from, *node));
  KW_TRY(read_extensions(from, *node));
  KW_TRY(read_children(from, *node, depth));
  KW_TRY(read_combined(from, *node, depth));
  note_forbidden(from, *node);
  return StructuralPtr(std::move(node));
}

}  // namespace

std::string Structural::path() const {
  std::vector<const SchemaStep*> steps;
  for (const SchemaStep* at = step.get(); at != nullptr; at = at->above.get()) steps.push_back(at);
  std::string out;
  for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
    if (!out.empty()) out += '.';
    out += (*at)->text;
  }
  return out;
}

const Structural* Structural::member(const std::string& key) const {
  const auto it = properties.find(key);
  return it != properties.end() ? it->second.get() : additional_properties.get();
}

Result<StructuralPtr> parse_structural(const Json& open_api_v3_schema,
                                       const StructuralLimits& limits) {
  return Parser(limits).parse(open_api_v3_schema, nullptr, 0);
}

void for_each_node(const Structural& root, const std::function<void(const Structural&)>& visit) {
  visit(root);
  for (const auto& [key, schema] : root.properties) for_each_node(*schema, visit);
  if (root.additional_properties) for_each_node(*root.additional_properties, visit);
  if (root.items) for_each_node(*root.items, visit);
}

std::string join_path(const std::string& base, const std::string& below_it) {
  if (base.empty() || below_it.empty() || below_it[0] == '[') return base + below_it;
  return base + "." + below_it;
}

}  // namespace kubewatch::schema
