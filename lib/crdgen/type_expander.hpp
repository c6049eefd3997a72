// Types of a TypeDefinitions document to OpenAPI schemas: shorthand texts, the long form with
// fields, named types, core types, unions and flattened types. What a structural schema cannot say
// becomes what it can, and a note tells what and why. Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "crdgen/field_count.hpp"
#include "crdgen/keywords.hpp"
#include "crdgen/node.hpp"
#include "crdgen/shorthand.hpp"

namespace kubewatch::crdgen {

class TypeExpander {
 public:
  // A named type for all that is expanded later; a later one of the same name takes its place.
  void define(const std::string& name, const Node& node);
  std::vector<std::string> names() const;

  struct Field {
    Json schema = Json::object();
    bool required = false;
    bool immutable = false;
  };
  // A text, or a mapping in the long form. Problems go to the node's source.
  Field expand(const Node& node);
  // Into the properties of an object: `required` and rules about the object as well.
  void add_property(Json& object, const std::string& name, const Node& node);
  // Keys that any object may have: rules, exactlyOneOf and the like.
  void apply_object_keys(Json& schema, const Node& node);
  static const std::vector<std::string>& object_keys();

  // Expands every named type, so that problems of unused ones are found.
  void expand_all();

 private:
  using Report = std::function<void(const std::string& message)>;
  // Where a type is written, for problems and notes.
  struct Place {
    const Node& node;
    bool is_text;  // the node is the text that offsets are of
    void problem(std::size_t at, const std::string& message) const;
  };

  Field from_text(const Node& node);
  Field from_mapping(const Node& node);
  Field base_of(const Node& node);
  Json schema_of(const TypeText& type, const Place& place);
  Json named(const TypeText& type, const Place& place);
  Json copy_of(const TypeText& type, const Json& schema, const Place& place);
  // Of a type that is no field: markers about the field it stands in are refused.
  Json inner(const Node& node, bool is_shared);
  Json either(const TypeText& type, const Place& place);
  void apply(Field& field, const std::string& name, const Json& value, const Report& report);
  // `before` is what stood before the name: "items." and the like.
  void apply_keyword(Json& schema, const std::string& name, const Json& value, const Report& report,
                     const std::string& before = "");
  void apply_rules(Json& schema, const Json& value, const Report& report);
  void apply_fields(Json& schema, const Node& fields);
  void apply_union(Json& schema, const Node& variants);
  void apply_flatten(Json& schema, const Node& flatten);
  void apply_count(Json& schema, const Node& node, const std::string& key, FieldCount::Kind kind,
                   const std::string& words);

  std::map<std::string, Node> types_;
  std::map<std::string, Json> done_;
  std::set<std::string> under_way_;
  std::size_t depth_ = 0;
  std::map<std::string, std::size_t> sizes_;  // of what is in done_
  bool too_large_ = false;
  std::size_t copied_ = 0;  // parts of named types at all places they are used
};

// An OpenAPI schema as it is written, without the nulls, which the server reads as nothing. What it
// could not read is a problem, and {} comes back.
Json read_raw(const Node& node);

// Adds to a list of texts that stays sorted and without duplicates.
void add_sorted(Json& object, const std::string& key, const std::string& text);

}  // namespace kubewatch::crdgen
