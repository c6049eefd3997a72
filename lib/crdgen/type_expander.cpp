#include "crdgen/type_expander.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document_words.hpp"
#include "base/strings.hpp"
#include "crdgen/core_types.hpp"
#include "crdgen/immutable.hpp"
#include "crdgen/untagged_union.hpp"
#include "schema/cel_types.hpp"
#include "schema/crd_fields.hpp"
#include "schema/structural.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::size_t kExpandDepth = 60;
// Named types are copied where they are used, so that a few lines can stand for any number.
constexpr std::size_t kMaxParts = 100000;       // of one named type
constexpr std::size_t kMaxCopied = 500000;      // of all copies
constexpr std::size_t kMostUnknownOfRaw = 100;  // told of one raw schema

const std::map<std::string, Json>& builtins() {
  static const std::map<std::string, Json> all = {
      {"string", {{"type", "string"}}},
      {"integer", {{"type", "integer"}}},
      {"number", {{"type", "number"}}},
      {"boolean", {{"type", "boolean"}}},
      {"object", {{"type", "object"}}},
      {"int32", {{"type", "integer"}, {"format", "int32"}}},
      {"int64", {{"type", "integer"}, {"format", "int64"}}},
      {"float", {{"type", "number"}, {"format", "float"}}},
      {"double", {{"type", "number"}, {"format", "double"}}},
      {"bytes", {{"type", "string"}, {"format", "byte"}}},
      {"date", {{"type", "string"}, {"format", "date"}}},
      {"any", {{"x-kubernetes-preserve-unknown-fields", true}}},
      {"embedded",
       {{"type", "object"},
        {"x-kubernetes-embedded-resource", true},
        {"x-kubernetes-preserve-unknown-fields", true}}},
  };
  return all;
}

std::size_t parts_of(const Json& schema) {
  if (!schema.is_structured()) return 0;
  std::size_t out = 1;
  for (const Json& one : schema) out += parts_of(one);
  return out;
}

void drop_raw_nulls(Json& schema) {
  if (!schema.is_object()) return;
  for (auto it = schema.begin(); it != schema.end();) {
    const bool value = it.key() == "default" || it.key() == "example";
    it = it->is_null() && !value ? schema.erase(it) : std::next(it);
  }
  for (const char* key : {"items", "additionalProperties", "not"}) {
    if (schema.contains(key)) drop_raw_nulls(schema[key]);
  }
  for (const char* key : {"properties", "allOf", "anyOf", "oneOf"}) {
    const auto it = schema.find(key);
    if (it == schema.end() || !it->is_structured()) continue;
    for (Json& one : *it) {
      if (one.is_null()) one = Json::object();
      drop_raw_nulls(one);
    }
  }
}

bool is_of_fields(const std::string& marker) {
  return marker == "required" || marker == "optional" || marker == "immutable";
}

// What a marker says, whatever it is called; "" where it may be said several times.
std::string said_by(const std::string& marker) {
  for (const std::string prefix : {"items.", "values."}) {
    if (!marker.starts_with(prefix)) continue;
    const std::string inner = said_by(marker.substr(prefix.size()));
    return inner.empty() ? "" : prefix + inner;
  }
  if (marker == "validation" || marker == "validations") return "";
  if (marker == "optional") return "required";
  const Keyword* keyword = find_keyword(marker);
  if (keyword == nullptr) return marker;
  return keyword->want == Keyword::Want::texts ? "" : std::string(keyword->name);
}

Json* below(Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && it->is_object() ? &*it : nullptr;
}

}  // namespace

Json read_raw(const Node& node) {
  if (!node.value().is_object()) {
    node.problem("must be a mapping: an OpenAPI v3 schema");
    return Json::object();
  }
  // First, because it limits the depth too.
  if (const auto parsed = schema::parse_structural(node.value()); !parsed.ok()) {
    node.problem("is no OpenAPI v3 schema: " + parsed.error().message());
    return Json::object();
  }
  for (const schema::UnknownField& unknown :
       schema::unknown_schema_fields(node.value(), kMostUnknownOfRaw)) {
    Node at = node;
    for (const std::string& step : unknown.steps) {
      at = at.value().is_array() ? at.item(std::stoul(step)) : at.child(step);
    }
    at.problem_at_key("no schema has this field" +
                      did_you_mean(unknown.steps.back(), unknown.known()));
  }
  Json out = node.value();
  drop_raw_nulls(out);
  return out;
}

void add_sorted(Json& object, const std::string& key, const std::string& text) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  const auto at = std::lower_bound(list.begin(), list.end(), Json(text));
  if (at == list.end() || *at != text) list.insert(at, text);
}

void TypeExpander::Place::problem(std::size_t at, const std::string& message) const {
  if (is_text) {
    node.problem_inside(at, message);
  } else {
    node.problem(message);
  }
}

void TypeExpander::define(const std::string& name, const Node& node) {
  types_.insert_or_assign(name, node);
  done_.erase(name);
}

std::vector<std::string> TypeExpander::names() const {
  std::vector<std::string> out;
  for (const auto& [name, node] : types_) out.push_back(name);
  return out;
}

void TypeExpander::expand_all() {
  for (const auto& [name, node] : types_) {
    if (done_.count(name) != 0) continue;
    under_way_ = {name};
    done_[name] = inner(node, true);
    sizes_[name] = parts_of(done_[name]);
    under_way_.clear();
  }
}

TypeExpander::Field TypeExpander::expand(const Node& node) {
  if (++depth_ > kExpandDepth) {
    --depth_;
    node.problem(fmt::format("types are nested more than {} deep", kExpandDepth));
    return {};
  }
  Field out;
  if (node.value().is_string()) {
    out = from_text(node);
  } else if (node.value().is_object()) {
    out = from_mapping(node);
  } else {
    node.problem(
        fmt::format("must be a type: a text like \"string | maxLength=10\" or a mapping "
                    "with `type`, `fields` or `raw`, not {}",
                    type_name(node.value())));
  }
  --depth_;
  return out;
}

Json TypeExpander::inner(const Node& node, bool is_shared) {
  Field field = expand(node);
  if (field.required) {
    node.problem("`required` is of a field: write it where the field stands");
  } else if (field.immutable && is_shared) {
    node.problem("`immutable` is of a field: write it where the field stands");
  }
  return std::move(field.schema);
}

TypeExpander::Field TypeExpander::from_text(const Node& node) {
  const std::string text = node.value().get<std::string>();
  FieldText parsed;
  const bool ok = parse_field_text(text, parsed, [&node](std::size_t at, const std::string& what) {
    node.problem_inside(at, what);
  });
  Field out;
  if (!ok) return out;
  out.schema = schema_of(parsed.type, {node, true});
  std::map<std::string, std::string> said;
  for (const Marker& marker : parsed.markers) {
    const std::string about = said_by(marker.name);
    const auto [first, added] = said.emplace(about, marker.name);
    if (!added && !about.empty()) {
      node.problem_inside(marker.at, first->second == marker.name
                                         ? marker.name + " is there twice"
                                         : fmt::format("{} is there, which {} contradicts",
                                                       first->second, marker.name));
      continue;
    }
    apply(out, marker.name, marker.value,
          [&](const std::string& message) { node.problem_inside(marker.at, message); });
  }
  return out;
}

const std::vector<std::string>& TypeExpander::object_keys() {
  static const std::vector<std::string> keys = {"validations", "exactlyOneOf", "atMostOneOf",
                                                "atLeastOneOf"};
  return keys;
}

TypeExpander::Field TypeExpander::base_of(const Node& node) {
  if (node.has("type")) {
    if (node.has("items") || node.has("values")) {
      node.problem("`type` does not go with `items` or `values`: a list or map has one of them");
    }
    const Node type = node.child("type");
    if (!type.value().is_string()) {
      type.problem("must be text, like \"[]string\"");
      return {};
    }
    return from_text(type);
  }
  Field out;
  if (node.has("items")) {
    for (const char* key : {"values", "fields", "union", "flatten"}) {
      if (node.has(key)) node.child(key).problem_at_key("does not go with `items`");
    }
    out.schema = {{"type", "array"}, {"items", inner(node.child("items"), false)}};
    return out;
  }
  if (node.has("fields") || node.has("union") || node.has("flatten") || node.has("values")) {
    out.schema["type"] = "object";
  }
  if (node.has("values")) out.schema["additionalProperties"] = inner(node.child("values"), false);
  return out;
}

TypeExpander::Field TypeExpander::from_mapping(const Node& node) {
  static const std::vector<std::string> kOwn = {"type",     "fields",    "items",     "values",
                                                "union",    "flatten",   "raw",       "schema",
                                                "required", "immutable", "validation"};
  std::vector<std::string> known = kOwn;
  for (const Keyword& keyword : keywords()) known.emplace_back(keyword.name);
  for (const std::string& key : object_keys()) known.push_back(key);
  Field out;
  if (!node.only_keys(known)) return out;
  const bool unknown =
      std::any_of(node.value().items().begin(), node.value().items().end(), [&](const auto& one) {
        return std::find(known.begin(), known.end(), one.key()) == known.end();
      });
  out = base_of(node);
  if (node.has("schema")) {
    if (node.text("schema") != "disabled") {
      node.child("schema").problem("the only value is \"disabled\": whatever is there is kept");
    }
    out.schema["x-kubernetes-preserve-unknown-fields"] = true;
  }
  if (node.has("fields")) apply_fields(out.schema, node.child("fields"));
  if (node.has("union")) apply_union(out.schema, node.child("union"));
  if (node.has("flatten")) apply_flatten(out.schema, node.child("flatten"));
  for (const auto& [key, value] : node.value().items()) {
    const bool shared = key == "required" || key == "immutable" || key == "validation";
    if (!shared && find_keyword(key) == nullptr) continue;
    const Node at = node.child(key);
    apply(out, key, value, [&at](const std::string& message) { at.problem(message); });
  }
  apply_object_keys(out.schema, node);
  if (node.has("raw")) {
    const Json raw = read_raw(node.child("raw"));
    for (const auto& [key, value] : raw.items()) out.schema[key] = value;
  } else if (out.schema.empty() && !unknown) {
    node.problem("says no type: name one with `type`, `fields`, `items`, `values` or `raw`");
  }
  return out;
}

void TypeExpander::apply_object_keys(Json& schema, const Node& node) {
  if (node.has("validations")) {
    const Node rules = node.child("validations");
    apply_rules(schema, rules.value(),
                [&rules](const std::string& message) { rules.problem(message); });
  }
  using Kind = FieldCount::Kind;
  apply_count(schema, node, "exactlyOneOf", Kind::exactly_one, "exactly one of");
  apply_count(schema, node, "atMostOneOf", Kind::at_most_one, "at most one of");
  apply_count(schema, node, "atLeastOneOf", Kind::at_least_one, "at least one of");
}

void TypeExpander::apply_count(Json& schema, const Node& node, const std::string& key,
                               FieldCount::Kind kind, const std::string& words) {
  const auto names = node.texts(key);
  if (!names) return;
  FieldCount count{kind, {}};
  const Json* properties = below(schema, "properties");
  for (const std::string& name : *names) {
    if (properties == nullptr || !properties->contains(name)) {
      std::vector<std::string> known;
      if (properties != nullptr) {
        for (const auto& [field, type] : properties->items()) known.push_back(field);
      }
      node.child(key).problem(
          fmt::format("there is no field {}{}", in_quotes(name), did_you_mean(name, known)));
      return;
    }
    const auto in_cel = schema::escape_name(name);
    if (!in_cel) {
      node.child(key).problem(
          fmt::format("rules cannot name field {}, so that it cannot be counted", in_quotes(name)));
      return;
    }
    count.fields.push_back(*in_cel);
  }
  if (count.fields.empty()) {
    node.child(key).problem("names no field");
    return;
  }
  schema["x-kubernetes-validations"].push_back(
      {{"rule", rule_of(count)},
       {"message", fmt::format("{} {} must be set", words, base::join(*names, ", "))}});
}

void TypeExpander::apply_rules(Json& schema, const Json& value, const Report& report) {
  static const std::vector<std::string> known = {"rule",   "message",   "messageExpression",
                                                 "reason", "fieldPath", "optionalOldSelf"};
  if (value.is_array()) {
    for (const Json& one : value) apply_rules(schema, one, report);
    return;
  }
  if (value.is_string()) {
    schema["x-kubernetes-validations"].push_back({{"rule", value}});
    return;
  }
  if (!value.is_object() || !value.contains("rule") || !value["rule"].is_string()) {
    return report("a rule is a CEL text or a mapping with `rule`");
  }
  for (const auto& [key, member] : value.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      report("unknown key " + in_quotes(key) + " of a rule" + did_you_mean(key, known));
    } else if (key == "optionalOldSelf" ? !member.is_boolean() : !member.is_string()) {
      report(key + " of a rule " +
             (key == "optionalOldSelf" ? "must be true or false" : "must be text"));
    }
  }
  schema["x-kubernetes-validations"].push_back(value);
}

void TypeExpander::apply_fields(Json& schema, const Node& fields) {
  if (!fields.value().is_object()) {
    fields.problem("must be a mapping of field names to types");
    return;
  }
  for (const auto& [name, type] : fields.value().items()) {
    const auto misread = base::misread_name(name);
    if (!misread.empty() && !fields.child(name).key_is_text()) {
      fields.child(name).problem(std::string(misread) + "; put it in quotes");
      continue;
    }
    add_property(schema, name, fields.child(name));
  }
}

void TypeExpander::add_property(Json& object, const std::string& name, const Node& node) {
  Field field = expand(node);
  Json& property = object["properties"][name] = std::move(field.schema);
  if (field.required) add_sorted(object, "required", name);
  if (field.immutable) mark_immutable(property);
  if (!holds_immutable(property)) return;
  if (!schema::escape_name(name)) {
    node.problem(field.immutable
                     ? "rules cannot name this field, so that it cannot be made immutable"
                     : "rules cannot name this field, so that what is immutable in it cannot stay");
  } else if (!always_there(object, name)) {
    add_keep_rule(object, name);
  }
}

void TypeExpander::apply_union(Json& schema, const Node& variants) {
  if (!variants.value().is_object() || variants.value().empty()) {
    variants.problem("must be a mapping of variants to types");
    return;
  }
  for (const auto& [name, type] : variants.value().items()) {
    add_property(schema, name, variants.child(name));
    schema["oneOf"].push_back({{"required", Json::array({name})}});
  }
  variants.note("a union by field name: every variant is a property, oneOf requires exactly one");
}

namespace {

// What a flattened type says beside its fields; its texts are about the type and are left out.
void carry_over(const Json& flat, Json& schema, const Node& part) {
  for (const auto& [key, value] : flat.items()) {
    if (key == "required") {
      for (const Json& name : value) add_sorted(schema, "required", name.get<std::string>());
    } else if (key == "x-kubernetes-validations" || key == "allOf") {
      for (const Json& one : value) schema[key].push_back(one);
    } else if (key == "oneOf" || key == "anyOf" || key == "not") {
      // Beside a condition of the whole, or of another flattened type, in allOf.
      if (schema.contains(key)) {
        schema["allOf"].push_back({{key, value}});
      } else {
        schema[key] = value;
      }
    } else if (key == "x-kubernetes-preserve-unknown-fields") {
      schema[key] = value;
    } else if (key == "x-kubernetes-map-type") {
      part.note("mapType of the flattened type is left out: it would be that of the whole object");
    } else if (key != "type" && key != "properties" && key != "description" && key != "title" &&
               key != "example" && key != "externalDocs") {
      const Keyword* keyword = find_by_schema_key(key);
      part.problem(
          fmt::format("{} is of an object by itself: it cannot be said of the part of "
                      "one that a flattened type is",
                      keyword == nullptr ? key : std::string(keyword->name)));
    }
  }
}

}  // namespace

void TypeExpander::apply_flatten(Json& schema, const Node& flatten) {
  for (const Node& part : flatten.each()) {
    const Json flat = inner(part, true);
    if (flat.contains("additionalProperties")) {
      schema["x-kubernetes-preserve-unknown-fields"] = true;
      part.note(
          "a flattened map beside fields: a structural schema has either properties or "
          "additionalProperties, so that further keys are kept without being checked");
      continue;
    }
    if (!flat.contains("properties")) {
      part.problem("only types with fields and maps can be flattened");
      continue;
    }
    for (const auto& [name, property] : flat["properties"].items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) {
        part.problem(fmt::format("field {} is there already", in_quotes(name)));
      }
      schema["properties"][name] = property;
    }
    carry_over(flat, schema, part);
  }
}

Json TypeExpander::schema_of(const TypeText& type, const Place& place) {
  switch (type.form) {
    case TypeText::Form::list:
      return {{"type", "array"}, {"items", schema_of(type.parts.front(), place)}};
    case TypeText::Form::map:
      return {{"type", "object"}, {"additionalProperties", schema_of(type.parts.front(), place)}};
    case TypeText::Form::either: return either(type, place);
    case TypeText::Form::name: break;
  }
  return named(type, place);
}

Json TypeExpander::named(const TypeText& type, const Place& place) {
  if (const auto it = types_.find(type.name); it != types_.end()) {
    if (const auto done = done_.find(type.name); done != done_.end()) {
      return copy_of(type, done->second, place);
    }
    if (!under_way_.insert(type.name).second) {
      place.problem(type.at, fmt::format("type {} contains itself, which no CRD can: make a field "
                                         "in between `any`",
                                         in_quotes(type.name)));
      return Json::object();
    }
    Json schema = inner(it->second, true);
    under_way_.erase(type.name);
    sizes_[type.name] = parts_of(schema);
    return copy_of(type, done_[type.name] = std::move(schema), place);
  }
  if (const auto it = builtins().find(type.name); it != builtins().end()) return it->second;
  if (const Json* core = core_type(type.name)) return *core;
  std::vector<std::string> known = names();
  for (const auto& [name, schema] : builtins()) known.push_back(name);
  for (const std::string& name : core_type_names()) known.push_back(name);
  place.problem(type.at, fmt::format("unknown type {}{}", in_quotes(type.name),
                                     did_you_mean(type.name, known)));
  return Json::object();
}

Json TypeExpander::copy_of(const TypeText& type, const Json& schema, const Place& place) {
  const std::size_t parts = sizes_[type.name];
  if (parts <= kMaxParts && copied_ + parts <= kMaxCopied) {
    copied_ += parts;
    return schema;
  }
  // Said once: everything that is made of it would be too large as well.
  if (!too_large_) {
    place.problem(type.at,
                  fmt::format("with type {} the schemas come to more than {} parts: a type is "
                              "written out wherever it is used",
                              in_quotes(type.name), parts > kMaxParts ? kMaxParts : kMaxCopied));
  }
  too_large_ = true;
  return Json::object();
}

Json TypeExpander::either(const TypeText& type, const Place& place) {
  std::vector<Json> alternatives;
  for (const TypeText& part : type.parts) alternatives.push_back(schema_of(part, place));
  UnionSchema made = untagged_union(alternatives);
  place.node.note(made.note);
  return std::move(made.schema);
}

void TypeExpander::apply(Field& field, const std::string& name, const Json& value,
                         const Report& report) {
  if (name == "required" || name == "immutable") {
    if (!value.is_boolean()) return report(name + " is true or false");
    (name == "required" ? field.required : field.immutable) = value.get<bool>();
    if (name == "immutable" && field.immutable) {
      field.schema["x-kubernetes-validations"].push_back(
          {{"rule", "self == oldSelf"}, {"message", "this field is immutable"}});
    }
    return;
  }
  if (name == "optional") {
    if (value != true) return report("optional is a flag; say `required` instead");
    field.required = false;
    return;
  }
  apply_keyword(field.schema, name, value, report);
}

void TypeExpander::apply_keyword(Json& schema, const std::string& name, const Json& value,
                                 const Report& report, const std::string& before) {
  for (const auto& [prefix, key] :
       {std::pair("items.", "items"), {"values.", "additionalProperties"}}) {
    if (!name.starts_with(prefix)) continue;
    const std::string rest = name.substr(std::string_view(prefix).size());
    const std::string whole = before + name;
    if (is_of_fields(rest)) return report(whole + " is of a field: items and values are none");
    Json* inner = below(schema, key);
    if (inner == nullptr) {
      return report(fmt::format("{} is of {}, which this type has not", whole,
                                key == std::string_view("items") ? "lists" : "maps"));
    }
    return apply_keyword(*inner, rest, value, report, before + prefix);
  }
  if (name == "validation" || name == "validations") return apply_rules(schema, value, report);
  const Keyword* keyword = find_keyword(name);
  if (keyword == nullptr) {
    std::vector<std::string> known = {"required", "optional", "immutable", "validation"};
    for (const Keyword& one : keywords()) known.emplace_back(one.name);
    return report(fmt::format("unknown marker {}{}", in_quotes(name), did_you_mean(name, known)));
  }
  if (const std::string wrong = check_value(*keyword, value); !wrong.empty()) {
    return report(fmt::format("{}{} {}", before, name, wrong));
  }
  if (!applies_to(*keyword, schema)) {
    return report(fmt::format("{}{} does not go with type {}", before, name,
                              schema["type"].get<std::string>()));
  }
  const std::string key(keyword->schema_key);
  // The server writes no flag that is false, and refuses some of them.
  if (keyword->want == Keyword::Want::flag && value == false) {
    schema.erase(key);
    return;
  }
  if (keyword->want != Keyword::Want::texts) {
    schema[key] = value;
    return;
  }
  if (value.is_string()) {
    schema[key].push_back(value);
  } else {
    schema[key] = value;
  }
}

}  // namespace kubewatch::crdgen
