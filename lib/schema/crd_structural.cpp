// Structural rules of crd_check.hpp: every value has a type, what is said in allOf, anyOf, oneOf
// and not is a restriction of what is declared outside of them, metadata stays the server's.
#include <fmt/format.h>

#include <algorithm>

#include "base/regex.hpp"
#include "schema/crd_report.hpp"

namespace kubewatch::schema {

namespace {

enum class Level { root, item, field };

// Nothing but `type` (and, for metadata, what may be said of it besides).
bool says_nothing_else(const Structural& s, bool default_too, bool properties_too) {
  const bool generic = s.title.empty() && s.description.empty() && !s.nullable && !s.example &&
                       !s.external_docs && !s.additional_allowed && !s.items &&
                       (default_too || !s.default_value) &&
                       (properties_too || s.properties.empty());
  const bool extensions = !s.preserve_unknown_fields && !s.embedded_resource && !s.int_or_string &&
                          !s.list_map_keys && !s.list_type && !s.map_type && s.validations.empty();
  const bool bounds = !s.maximum && !s.exclusive_maximum && !s.minimum && !s.exclusive_minimum &&
                      !s.multiple_of && !s.max_length && !s.min_length && !s.max_items &&
                      !s.min_items && !s.max_properties && !s.min_properties;
  return generic && extensions && bounds && s.format.empty() && s.pattern.empty() &&
         !s.enum_values && s.required.empty() && s.all_of.empty() && s.any_of.empty() &&
         s.one_of.empty() && !s.not_schema;
}

bool is_plain(const Structural& schema, const char* type) {
  return schema.type == type && says_nothing_else(schema, false, false);
}

bool is_int_or_string(const std::vector<StructuralPtr>& any_of) {
  return any_of.size() == 2 && is_plain(*any_of[0], "integer") && is_plain(*any_of[1], "string");
}

class Structure {
 public:
  Structure(const std::string& base, Report& report) : base_(base), report_(report) {}

  void check(const Structural& s, Level level) {
    if (s.is_array() && !s.items) {
      required("structural-items", s, "items", "must be specified");
    }
    if (s.items) check(*s.items, Level::item);
    for (const auto& [key, below] : s.properties) check(*below, Level::field);
    if (s.additional_allowed && level == Level::root) {
      forbidden("structural-additional-properties", s, "additionalProperties",
                "must not be used at the root");
    }
    if (s.additional_properties) check(*s.additional_properties, Level::field);
    check_extensions(s);
    const bool first_all_of = !s.all_of.empty() && is_int_or_string(s.all_of[0]->any_of);
    check_values(s, is_int_or_string(s.any_of), first_all_of);
    check_type(s, level);
    check_embedded_schema(s, level);
  }

  // What a restriction mentions has to be declared.
  void check_declared(const Structural& values, const Structural* declared,
                      const ValuePlace& at = ValuePlace::root()) {
    for (const auto* list : {&values.all_of, &values.any_of, &values.one_of}) {
      for (const auto& one : *list) check_nested_declared(*one, declared, at);
    }
    if (values.not_schema) check_nested_declared(*values.not_schema, declared, at);
  }

 private:
  std::string place(const Structural& s, const std::string& child) const {
    const std::string at = join_path(base_, s.path());
    return child.empty() ? at : at + "." + child;
  }
  void required(const char* id, const Structural& s, const std::string& child,
                const std::string& why) {
    report_.add(id, field_required(place(s, child), why));
  }
  void forbidden(const char* id, const Structural& s, const std::string& child,
                 const std::string& why) {
    report_.add(id, field_forbidden(place(s, child), why));
  }
  void invalid(const char* id, const Structural& s, const std::string& child,
               const std::string& shown, const std::string& why) {
    report_.add(id, field_invalid(place(s, child), shown, why));
  }

  void check_extensions(const Structural& s) {
    if (!s.int_or_string) return;
    const char* why = "must be false if x-kubernetes-int-or-string is true";
    if (s.preserves_unknown()) {
      invalid("int-or-string", s, "x-kubernetes-preserve-unknown-fields", "true", why);
    }
    if (s.embedded_resource) {
      invalid("int-or-string", s, "x-kubernetes-embedded-resource", "true", why);
    }
  }

  void check_type(const Structural& s, Level level) {
    if (s.embedded_resource && s.type != "object") {
      const char* why = "must be object if x-kubernetes-embedded-resource is true";
      if (s.type.empty()) {
        required("embedded-resource", s, "type", why);
      } else {
        invalid("embedded-resource", s, "type", go_quoted(s.type), why);
      }
    } else if (s.type.empty() && !s.int_or_string && !s.preserves_unknown()) {
      required("structural-type", s, "type",
               level == Level::root   ? "must not be empty at the root"
               : level == Level::item ? "must not be empty for specified array items"
                                      : "must not be empty for specified object fields");
    }
    if (s.embedded_resource && s.additional_allowed) {
      forbidden("embedded-resource", s, "additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (level == Level::root && !s.type.empty() && s.type != "object") {
      invalid("structural-type", s, "type", go_quoted(s.type), "must be object at the root");
    }
  }

  void check_embedded_schema(const Structural& s, Level level) {
    const bool resource = level == Level::root || s.embedded_resource;
    for (const char* key : {"kind", "apiVersion"}) {
      const auto it = s.properties.find(key);
      if (!resource || it == s.properties.end() || it->second->type == "string") continue;
      invalid("structural-metadata", *it->second, "type", go_quoted(it->second->type),
              "must be string");
    }
    if (const auto it = s.properties.find("metadata"); it != s.properties.end()) {
      check_metadata(*it->second, resource, level);
    }
    if (s.embedded_resource && !s.preserves_unknown() && s.properties.empty()) {
      required("embedded-resource", s, "properties",
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    }
  }

  void check_metadata(const Structural& metadata, bool resource, Level level) {
    if (resource && metadata.type != "object") {
      invalid("structural-metadata", metadata, "type", go_quoted(metadata.type), "must be object");
    }
    if (level != Level::root) return;
    const std::size_t known =
        metadata.properties.count("name") + metadata.properties.count("generateName");
    const bool properties = known == metadata.properties.size();
    if (properties && says_nothing_else(metadata, true, true)) return;
    forbidden("structural-metadata", metadata, "",
              "must not specify anything other than name and generateName, but metadata is "
              "implicitly specified");
  }

  void check_values(const Structural& s, bool skip_any_of, bool skip_first_all_of) {
    if (!skip_any_of) {
      for (const auto& one : s.any_of) check_nested(*one, false);
    }
    for (std::size_t i = 0; i < s.all_of.size(); ++i) {
      check_nested(*s.all_of[i], skip_first_all_of && i == 0);
    }
    for (const auto& one : s.one_of) check_nested(*one, false);
    if (s.not_schema) check_nested(*s.not_schema, false);
    if (s.pattern.empty()) return;
    const auto pattern = base::Regex::compile(s.pattern);
    if (pattern) return;
    invalid("pattern", s, "pattern", go_quoted(s.pattern),
            "must be a valid regular expression, but isn't: " + pattern.error().message());
  }

  void check_nested(const Structural& v, bool skip_any_of) {
    constexpr const char* kId = "structural-junctor";
    check_values(v, skip_any_of, false);
    if (v.items) check_nested(*v.items, false);
    for (const auto& [key, below] : v.properties) check_nested(*below, false);
    const auto refuse = [&](bool found, const char* keyword, const char* what) {
      if (found) forbidden(kId, v, keyword, fmt::format("must be {} to be structural", what));
    };
    refuse(!v.type.empty(), "type", "empty");
    refuse(v.additional_allowed.value_or(false), "additionalProperties", "undefined");
    refuse(v.default_value.has_value(), "default", "undefined");
    refuse(!v.title.empty(), "title", "empty");
    refuse(!v.description.empty(), "description", "empty");
    refuse(v.nullable, "nullable", "false");
    refuse(v.preserves_unknown(), "x-kubernetes-preserve-unknown-fields", "false");
    refuse(v.embedded_resource, "x-kubernetes-embedded-resource", "false");
    refuse(v.int_or_string, "x-kubernetes-int-or-string", "false");
    refuse(v.list_map_keys && !v.list_map_keys->empty(), "x-kubernetes-list-map-keys", "empty");
    refuse(v.list_type.has_value(), "x-kubernetes-list-type", "undefined");
    refuse(v.map_type.has_value(), "x-kubernetes-map-type", "undefined");
    refuse(!v.validations.empty(), "x-kubernetes-validations", "empty");
    const auto metadata = v.properties.find("metadata");
    if (metadata != v.properties.end()) {
      forbidden("structural-metadata", *metadata->second, "",
                "must not be specified in a nested context");
    }
  }

  // `at`: where the declaration that is looked at stands.
  void check_nested_declared(const Structural& v, const Structural* s, const ValuePlace& at) {
    if (s == nullptr) {
      report_.add(
          "structural-complete",
          field_required(join_path(base_, at.text()), "because it is defined in " + place(v, "")));
      return;
    }
    check_declared(v, s, at);
    if (v.items) check_nested_declared(*v.items, s->items.get(), at.property("items"));
    for (const auto& [key, below] : v.properties) {
      const auto it = s->properties.find(key);
      const std::string step = fmt::format("properties[{}]", key);
      check_nested_declared(*below, it == s->properties.end() ? nullptr : it->second.get(),
                            at.property(step));
    }
  }

  std::string base_;
  Report& report_;
};

}  // namespace

void check_structural(const Structural& root, const std::string& path, Findings& findings) {
  Findings found;
  Report report(found);
  Structure structure(path, report);
  structure.check(root, Level::root);
  structure.check_declared(root, &root);
  std::sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return sentence(a.error) < sentence(b.error);
  });
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace kubewatch::schema
