// Keyword rules of crd_check.hpp: what OpenAPI v3 in a CRD may not say at all, list and map types
// and their keys, and the rules of CEL as far as they are text.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/json.hpp"
#include "core/go_json.hpp"
#include "schema/crd_report.hpp"
#include "schema/field_path.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

struct Context {
  bool defaults = true;
  std::string why_no_defaults;
  bool inside_metadata = false;
};

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\n\v\f\r") == std::string::npos;
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\n\v\f\r");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\n\v\f\r") - from + 1);
}

bool has_line_break(const std::string& text) {
  return text.find_first_of("\n\r") != std::string::npos;
}

class Keywords {
 public:
  Keywords(const std::string& base, Report& report) : base_(base), report_(report) {}

  void check(const Structural& s, const Context& context, bool root) {
    check_forbidden(s, context);
    check_children(s, context, root);
    if (s.preserve_unknown_fields == false) {
      report_.add("preserve-unknown-fields",
                  field_invalid(at(s, "x-kubernetes-preserve-unknown-fields"), "false",
                                "must be true or undefined"));
    }
    check_map_type(s);
    check_list_type(s);
    check_keys(s);
    check_key_values(s);
    std::optional<bool> readable;
    for (std::size_t i = 0; i < s.validations.size(); ++i) check_rule(s, i, readable);
  }

 private:
  std::string at(const Structural& s, const std::string& child) const {
    const std::string place = join_path(base_, s.path());
    return child.empty() ? place : place + "." + child;
  }

  void check_forbidden(const Structural& s, const Context& context) {
    static const std::vector<std::string> types = {"array",  "boolean", "integer",
                                                   "number", "object",  "string"};
    if (!s.type.empty() && std::find(types.begin(), types.end(), s.type) == types.end()) {
      report_.add("type", field_not_supported(at(s, "type"), go_quoted(s.type), types));
    }
    if (s.default_value && !context.defaults) {
      const std::string why = context.why_no_defaults;
      report_.add("default-place", field_forbidden(at(s, "default"), "must not be set " + why));
    }
    for (const char* keyword :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      if (has(s, keyword)) {
        report_.add("forbidden-keyword",
                    field_forbidden(at(s, keyword), fmt::format("{} is not supported", keyword)));
      }
    }
    if (s.type == "null") {
      report_.add("type", field_forbidden(at(s, "type"),
                                          "type cannot be set to null, use nullable as an "
                                          "alternative"));
    }
    if (has(s, "items")) {
      report_.add(
          "forbidden-keyword",
          field_forbidden(at(s, "items"), "items must be a schema object and not an array"));
    }
    if (context.inside_metadata && s.embedded_resource) {
      report_.add("embedded-resource", field_forbidden(at(s, "x-kubernetes-embedded-resource"),
                                                       "must not be used inside of resource meta"));
    }
    if (has(s, "uniqueItems")) {
      report_.add("forbidden-keyword",
                  field_forbidden(at(s, "uniqueItems"),
                                  "uniqueItems cannot be set to true since the runtime complexity "
                                  "becomes quadratic"));
    }
  }

  static bool has(const Structural& s, const char* keyword) {
    return std::find(s.forbidden.begin(), s.forbidden.end(), keyword) != s.forbidden.end();
  }

  void check_children(const Structural& s, const Context& context, bool root) {
    if (s.additional_allowed && !s.properties.empty() &&
        (!*s.additional_allowed || s.additional_properties)) {
      report_.add("structural-additional-properties",
                  field_forbidden(at(s, "additionalProperties"),
                                  "additionalProperties and properties are mutual exclusive"));
    }
    if (s.additional_properties) {
      Context below = context;
      if (context.inside_metadata) {
        below.defaults = false;
        below.why_no_defaults = "inside additionalProperties applying to object metadata";
      }
      check(*s.additional_properties, below, false);
    }
    for (const auto& [key, property] : s.properties) {
      Context below = context;
      if ((root || s.embedded_resource) && is_meta(key)) {
        below.inside_metadata = true;
        if (root) {
          below.defaults = false;
          below.why_no_defaults = "in top-level " + key;
        }
      }
      check(*property, below, false);
    }
    if (s.not_schema) check(*s.not_schema, context, false);
    for (const auto* list : {&s.all_of, &s.one_of, &s.any_of}) {
      for (const auto& one : *list) check(*one, context, false);
    }
    if (s.items) check(*s.items, context, false);
  }

  void require_type(const Structural& s, const char* id, const char* type, const char* keyword) {
    const std::string why = fmt::format("must be {} if {} is specified", type, keyword);
    report_.add(id, s.type.empty() ? field_required(at(s, "type"), why)
                                   : field_invalid(at(s, "type"), go_quoted(s.type), why));
  }

  void check_map_type(const Structural& s) {
    if (!s.map_type) return;
    if (!s.is_object()) require_type(s, "map-type", "object", "x-kubernetes-map-type");
    if (*s.map_type == "atomic" || *s.map_type == "granular") return;
    report_.add("map-type", field_not_supported(at(s, "x-kubernetes-map-type"),
                                                go_quoted(*s.map_type), {"atomic", "granular"}));
  }

  void check_list_type(const Structural& s) {
    if (!s.list_type) return;
    if (!s.is_array()) {
      require_type(s, "list-type", "array", "x-kubernetes-list-type");
    } else if (*s.list_type == "set" && s.items) {
      const char* why = "must be atomic as item of a list with x-kubernetes-list-type=set";
      const std::string shown = s.items->list_type ? go_quoted(*s.items->list_type) : "null";
      if (s.items->is_array() && s.items->list_type && *s.items->list_type != "atomic") {
        report_.add("list-type", field_invalid(at(s, "items.x-kubernetes-list-type"), shown, why));
      }
      if (s.items->is_object() && s.items->map_type.value_or("") != "atomic") {
        report_.add("list-type", field_invalid(at(s, "items.x-kubernetes-map-type"), shown, why));
      }
    }
    if (*s.list_type == "atomic" || *s.list_type == "set" || *s.list_type == "map") return;
    report_.add("list-type",
                field_not_supported(at(s, "x-kubernetes-list-type"), go_quoted(*s.list_type),
                                    {"atomic", "set", "map"}));
  }

  void check_keys(const Structural& s) {
    constexpr const char* kId = "list-map-keys";
    const bool keys = s.list_map_keys && !s.list_map_keys->empty();
    if (keys && s.list_type != "map") {
      const char* why = "must be map if x-kubernetes-list-map-keys is non-empty";
      const std::string field = at(s, "x-kubernetes-list-type");
      report_.add(kId, s.list_type ? field_invalid(field, go_quoted(*s.list_type), why)
                                   : field_required(field, why));
    }
    if (s.list_type != "map") return;
    if (!keys) {
      report_.add(kId, field_required(at(s, "x-kubernetes-list-map-keys"),
                                      "must not be empty if x-kubernetes-list-type is map"));
    }
    if (!s.items) {
      report_.add(kId, has(s, "items")
                           ? field_invalid(at(s, "items"), "{}",
                                           "must only have a single schema if "
                                           "x-kubernetes-list-type is map")
                           : field_required(at(s, "items"),
                                            "must have a schema if x-kubernetes-list-type is map"));
      return;
    }
    if (!s.items->is_object()) {
      report_.add(kId, field_invalid(at(s, "items.type"), go_quoted(s.items->type),
                                     "must be object if parent array's x-kubernetes-list-type is "
                                     "map"));
      return;
    }
    if (keys) check_key_names(s);
  }

  void check_key_names(const Structural& s) {
    constexpr const char* kId = "list-map-keys";
    const std::string shown = shown_value(Json(*s.list_map_keys));
    std::set<std::string> seen;
    for (const auto& key : *s.list_map_keys) {
      const auto it = s.items->properties.find(key);
      if (it == s.items->properties.end()) {
        report_.add(kId, field_invalid(at(s, "x-kubernetes-list-map-keys"), shown,
                                       "entries must all be names of item properties"));
      } else if (it->second->is_array() || it->second->is_object()) {
        report_.add(kId, field_invalid(at(s, fmt::format("items.properties[{}].type", key)),
                                       go_quoted(s.items->type),
                                       "must be a scalar type if parent array's "
                                       "x-kubernetes-list-type is map"));
      }
      if (!seen.insert(key).second) {
        report_.add(kId, field_invalid(at(s, "x-kubernetes-list-map-keys"), shown,
                                       "must not contain duplicate entries"));
      }
    }
  }

  // Keys are always there and never null.
  void check_key_values(const Structural& s) {
    const std::string type = s.list_type.value_or("");
    if (!s.items || (type != "set" && type != "map")) return;
    if (s.items->nullable) {
      report_.add("list-type",
                  field_forbidden(at(s, "items.nullable"),
                                  "cannot be nullable when x-kubernetes-list-type is " + type));
    }
    if (type != "map" || !s.list_map_keys) return;
    const auto& required = s.items->required;
    for (const auto& key : *s.list_map_keys) {
      const auto it = s.items->properties.find(key);
      if (it == s.items->properties.end()) continue;
      const std::string field = fmt::format("items.properties[{}]", key);
      const bool always = std::find(required.begin(), required.end(), key) != required.end();
      if (!always && !it->second->default_value) {
        report_.add("list-map-keys",
                    field_required(at(s, field + ".default"),
                                   "this property is in x-kubernetes-list-map-keys, so it must "
                                   "have a default or be a required property"));
      }
      if (it->second->nullable) {
        report_.add("list-map-keys",
                    field_forbidden(at(s, field + ".nullable"),
                                    "this property is in x-kubernetes-list-map-keys, so it cannot "
                                    "be nullable"));
      }
    }
  }

  void check_rule_text(const ValidationRule& rule, const std::string& place) {
    constexpr const char* kId = "rule";
    if (is_blank(rule.rule)) {
      report_.add(kId, field_required(place + ".rule", "rule is not specified"));
    } else if (!rule.message.empty() && is_blank(rule.message)) {
      report_.add(kId, field_invalid(place + ".message", go_quoted(rule.message),
                                     "must be non-empty if specified"));
    } else if (has_line_break(trimmed(rule.message))) {
      report_.add(kId, field_invalid(place + ".message", go_quoted(rule.message),
                                     "must not contain line breaks"));
    } else if (has_line_break(trimmed(rule.rule)) && is_blank(rule.message)) {
      report_.add(kId, field_required(place + ".message",
                                      "message must be specified if rule contains line breaks"));
    }
    if (!rule.message_expression.empty() && is_blank(rule.message_expression)) {
      report_.add(kId, field_required(place + ".messageExpression",
                                      "messageExpression must be non-empty if specified"));
    }
  }

  // `readable`: of all below `s`, once a rule has asked.
  void check_rule(const Structural& s, std::size_t index, std::optional<bool>& readable) {
    constexpr const char* kId = "rule";
    const ValidationRule& rule = s.validations[index];
    const std::string place = at(s, fmt::format("x-kubernetes-validations[{}]", index));
    check_rule_text(rule, place);
    static const std::vector<std::string> reasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                     "FieldValueInvalid", "FieldValueRequired"};
    if (!rule.reason.empty() &&
        std::find(reasons.begin(), reasons.end(), rule.reason) == reasons.end()) {
      report_.add(kId, field_not_supported(place + ".reason", core::go_json(rule.reason), reasons));
    }
    const std::string& path = rule.field_path;
    if (path.empty()) return;
    if (is_blank(path)) {
      report_.add(kId, field_invalid(place + ".fieldPath", go_quoted(path),
                                     "must be non-empty if specified"));
    }
    if (has_line_break(path)) {
      report_.add(kId, field_invalid(place + ".fieldPath", go_quoted(path),
                                     "must not contain line breaks"));
    }
    // The server does not look into a schema that it cannot read.
    if (find_field(path, s, true)) return;
    if (!readable) readable = why_unreadable(s).empty();
    if (*readable) {
      report_.add(kId,
                  field_invalid(place + ".fieldPath", go_quoted(path), "must be a valid path"));
    }
  }

  std::string base_;
  Report& report_;
};

}  // namespace

void check_schema_keywords(const Structural& root, const std::string& path, Report& report) {
  Keywords(path, report).check(root, {}, true);
}

}  // namespace kubewatch::schema
