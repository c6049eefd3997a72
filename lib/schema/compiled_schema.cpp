#include "schema/compiled_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "schema/embedded.hpp"
#include "schema/go_words.hpp"
#include "schema/object_shape.hpp"
#include "schema/validator.hpp"

namespace kubewatch::schema {

CompiledSchema::CompiledSchema(StructuralPtr root, const RuleChecker* rules, ScalePaths scale)
    : root_(std::move(root)), scale_(std::move(scale)) {
  validator_ = std::make_unique<const Validator>(root_);
  const auto status = root_->properties.find("status");
  if (status != root_->properties.end()) {
    status_validator_ = std::make_unique<const Validator>(status->second);
  }
  for_each_node(*root_, [&](const Structural& node) {
    has_rules_ = has_rules_ || !node.validations.empty();
    has_embedded_ = has_embedded_ || node.embedded_resource;
    const std::string type = node.list_type.value_or("");
    has_keyed_lists_ = has_keyed_lists_ || type == "set" || type == "map";
  });
  if (rules != nullptr && has_rules_) rules_ = rules->compile(root_, true);
}

CompiledSchema::~CompiledSchema() = default;

Result<std::shared_ptr<const CompiledSchema>> CompiledSchema::of(const Json& open_api_v3_schema,
                                                                 const RuleChecker* rules,
                                                                 ScalePaths scale) {
  KW_ASSIGN(StructuralPtr root, parse_structural(open_api_v3_schema));
  return std::make_shared<const CompiledSchema>(std::move(root), rules, std::move(scale));
}

bool CompiledSchema::apply_defaults(Json& object) const {
  return schema::apply_defaults(object, *root_);
}

std::vector<std::string> CompiledSchema::prune(Json& object, bool keep_nulls) const {
  auto removed = schema::prune(object, *root_, true);
  if (!keep_nulls) drop_nulls(object, *root_);
  return removed;
}

Result<void> CompiledSchema::coerce_embedded(Json& object,
                                             std::vector<std::string>& unknown) const {
  if (!has_embedded_) return {};
  ToldPaths told;
  if (const auto wrong = schema::coerce_embedded(object, *root_, false, "", told)) {
    return Error(ErrorKind::invalid, sentence(*wrong));
  }
  std::vector<std::string> found = told.take();
  std::sort(found.begin(), found.end());
  unknown.insert(unknown.end(), found.begin(), found.end());
  return {};
}

namespace {

// A field of a scale path: null where there is none, or why there cannot be one.
struct ScaleField {
  const Json* value = nullptr;
  std::string problem;
};

std::string misplaced(const std::string& path, const Json& value, const char* wanted) {
  const std::string shown = value.is_string() ? value.get<std::string>()
                            : value.is_null() ? "<nil>"
                                              : base::dump_json(value);
  return fmt::format("{} accessor error: {} is of the type {}, expected {}", path, shown,
                     go_type(value), wanted);
}

ScaleField find_scale_field(const Json& object, const std::string& path) {
  const Json* at = &object;
  std::size_t start = path[0] == '.' ? 1 : 0;
  while (start <= path.size()) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    if (!at->is_object()) return {nullptr, misplaced(path, *at, "map[string]interface{}")};
    const auto it = at->find(path.substr(start, dot - start));
    if (it == at->end()) return {};
    at = &*it;
    start = dot + 1;
  }
  return {at, ""};
}

void check_replicas(const Json& object, const std::string& path, FieldErrors& errors) {
  if (path.empty()) return;
  ScaleField field = find_scale_field(object, path);
  if (field.value != nullptr && !field.value->is_number_integer()) {
    field.problem = misplaced(path, *field.value, "int64");
  }
  if (!field.problem.empty()) {
    errors.push_back(field_invalid(path, "0", field.problem));
    return;
  }
  if (field.value == nullptr) return;
  const Json& count = *field.value;  // compared as JSON: it may be beyond 2^63
  if (count < 0) {
    errors.push_back(
        field_invalid(path, base::dump_json(count), "should be a non-negative integer"));
  } else if (count > std::numeric_limits<std::int32_t>::max()) {
    errors.push_back(
        field_invalid(path, base::dump_json(count), "should be less than or equal to 2147483647"));
  }
}

// What was wrong before the server lets be.
void check_lists(const Json& object, const Json* old, const Structural& root, FieldErrors& errors) {
  FieldErrors found, before;
  check_keyed_lists(object, root, found);
  if (!found.empty() && old != nullptr) check_keyed_lists(*old, root, before);
  if (before.empty()) errors.append(found);
}

// Errors after which the server does not evaluate rules.
bool blocks_rules(const FieldError& error) {
  for (const char* reason : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                             "FieldValueTooMany", "FieldValueTypeInvalid"}) {
    if (error.reason == reason) return true;
  }
  return false;
}

}  // namespace

void CompiledSchema::check_scale_spec(const Json& object, FieldErrors& errors) const {
  check_replicas(object, scale_.spec, errors);
}

void CompiledSchema::check_scale_status(const Json& object, FieldErrors& errors) const {
  check_replicas(object, scale_.status, errors);
  if (scale_.selector.empty()) return;
  ScaleField field = find_scale_field(object, scale_.selector);
  if (field.value != nullptr && !field.value->is_string()) {
    field.problem = misplaced(scale_.selector, *field.value, "string");
  }
  if (field.problem.empty()) return;
  errors.push_back(field_invalid(scale_.selector, "\"\"", field.problem));
}

void CompiledSchema::check_rules(const Json& object, const Json* old, FieldErrors& errors,
                                 FieldErrors* tolerated) const {
  if (!has_rules_) return;
  if (errors.full() || std::any_of(errors.begin(), errors.end(), blocks_rules)) {
    errors.push_back(
        field_invalid("<nil>", "null",
                      "some validation rules were not checked because the object was invalid; "
                      "correct the existing errors to complete validation"));
    return;
  }
  FieldErrors untold;
  if (rules_) rules_->evaluate(object, old, "", errors, tolerated != nullptr ? *tolerated : untold);
}

void CompiledSchema::validate(const Json& object, const Json* old, FieldErrors& errors,
                              FieldErrors* tolerated) const {
  validator_->validate(object, old, "", errors);
  check_scale_spec(object, errors);
  check_scale_status(object, errors);
  if (has_embedded_) check_embedded(object, *root_, false, "", errors);
  if (has_keyed_lists_) check_lists(object, old, *root_, errors);
  check_rules(object, old, errors, tolerated);
}

void CompiledSchema::validate_status(const Json& object, const Json& old, FieldErrors& errors,
                                     FieldErrors* tolerated) const {
  const auto status = object.find("status");
  if (status != object.end() && status_validator_) {
    const auto before = old.find("status");
    const Json none;
    status_validator_->validate(*status, before == old.end() ? &none : &*before, "status", errors);
  }
  check_scale_status(object, errors);
  // Embedded resources are looked at by writes of the object alone.
  if (has_keyed_lists_) check_lists(object, &old, *root_, errors);
  check_rules(object, &old, errors, tolerated);
}

}  // namespace kubewatch::schema
