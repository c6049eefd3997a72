// An OpenAPI v3 schema as a CustomResourceDefinition holds it, read once into a tree that checks,
// validation, pruning, defaulting, CEL and crd-gen share. Immutable; parts are owned by their
// parents. Says nothing about whether the schema is allowed: that is crd_check.hpp. No I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::schema {

struct Structural;
using StructuralPtr = std::shared_ptr<const Structural>;

// A member of x-kubernetes-validations.
struct ValidationRule {
  std::string rule;
  std::string message;
  std::string message_expression;
  std::string reason;      // "" means FieldValueInvalid
  std::string field_path;  // ".spec.x", relative to where the rule stands
  std::optional<bool> optional_old_self;
};

struct ExternalDocs {
  std::string description;
  std::string url;
};

// A step to a node of a schema, and those above it.
struct SchemaStep {
  std::shared_ptr<const SchemaStep> above;  // null: the root
  std::string text;                         // "properties[spec]", "items"
};

struct Structural {
  // Where the node stands below openAPIV3Schema, as the API server writes it: "" at the root,
  // "properties[spec].items", "properties[a].additionalProperties", "allOf[0].not". Only written
  // out when it is asked for: below a long name each node would keep a copy of that.
  std::string path() const;
  std::shared_ptr<const SchemaStep> step;  // null: the root

  // Generic.
  std::string type;  // "" when absent
  std::string title;
  std::string description;
  std::optional<Json> default_value;  // JSON null is a value
  bool nullable = false;
  std::map<std::string, StructuralPtr, std::less<>> properties;
  // additionalProperties: a schema, or true (open) or false.
  StructuralPtr additional_properties;
  std::optional<bool> additional_allowed;
  StructuralPtr items;
  std::optional<Json> example;
  std::optional<ExternalDocs> external_docs;

  // Extensions.
  std::optional<bool> preserve_unknown_fields;
  bool embedded_resource = false;
  bool int_or_string = false;
  std::optional<std::vector<std::string>> list_map_keys;
  std::optional<std::string> list_type;  // "atomic", "set", "map" when valid
  std::optional<std::string> map_type;   // "atomic", "granular" when valid
  std::vector<ValidationRule> validations;

  // Value validations.
  std::string format;
  std::string pattern;
  std::optional<double> maximum;
  bool exclusive_maximum = false;
  std::optional<double> minimum;
  bool exclusive_minimum = false;
  std::optional<double> multiple_of;
  std::optional<std::int64_t> max_length;
  std::optional<std::int64_t> min_length;
  std::optional<std::int64_t> max_items;
  std::optional<std::int64_t> min_items;
  std::optional<std::int64_t> max_properties;
  std::optional<std::int64_t> min_properties;
  std::optional<std::vector<Json>> enum_values;
  std::vector<std::string> required;
  std::vector<StructuralPtr> all_of;
  std::vector<StructuralPtr> any_of;
  std::vector<StructuralPtr> one_of;
  StructuralPtr not_schema;

  // Keywords that no structural schema may have, as they were found: "$ref", "definitions",
  // "dependencies", "deprecated", "discriminator", "id", "patternProperties", "readOnly",
  // "writeOnly", "xml", "$schema", "additionalItems", "uniqueItems", "items" (a list of schemas).
  std::vector<std::string> forbidden;

  bool preserves_unknown() const { return preserve_unknown_fields.value_or(false); }
  bool is_object() const { return type == "object"; }
  bool is_array() const { return type == "array"; }
  // The schema of a member: a property, or additionalProperties; null when the schema has neither.
  const Structural* member(const std::string& key) const;
};

struct StructuralLimits {
  std::size_t max_depth = 128;     // levels of schemas
  std::size_t max_nodes = 500000;  // schemas in all
};

// From the JSON of openAPIV3Schema. Unknown keywords are passed over.
// Errors: invalid (a keyword of the wrong JSON type, in the words of Go's decoder: "json: cannot
// unmarshal string into Go struct field JSONSchemaProps.minLength of type int64"), too_large.
Result<StructuralPtr> parse_structural(const Json& open_api_v3_schema,
                                       const StructuralLimits& limits = {});

// Each node with its structural children (properties, items, additionalProperties; not the value
// validations), parents first.
void for_each_node(const Structural& root, const std::function<void(const Structural&)>& visit);

// "spec" + "properties[a]" -> "spec.properties[a]"; "" adds no dot; "[0]" no dot either.
std::string join_path(const std::string& base, const std::string& below);

// What an object has that is a resource by itself, whatever its schema says.
inline bool is_meta(const std::string& key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

}  // namespace kubewatch::schema
