#include "schema/crd_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "schema/crd_report.hpp"
#include "schema/embedded.hpp"
#include "schema/formats.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

using base::string_at;

namespace {

const Json& versions_of(const Json& crd) {
  return base::items_at(crd, {"spec", "versions"});
}

// The server reads what all versions have in common into one place above them, and its paths are
// of that place.
bool is_shared(const Json& versions, const char* key) {
  if (versions.empty()) return false;
  const auto value = [&](const Json& version) {
    const Json* found = base::present_at(version, {key});
    const bool nothing = found == nullptr || (found->is_array() && found->empty());
    return nothing ? Json() : *found;
  };
  const Json first = value(versions[0]);
  return std::all_of(versions.begin(), versions.end(),
                     [&](const Json& version) { return value(version) == first; });
}

bool has_status(const Json& version) {
  const Json* status = base::find(version, {"subresources", "status"});
  return status != nullptr && !status->is_null();
}

// With a status subresource the server splits the root schema, so that it may say little else.
void check_root_keywords(const Json& schema, const std::string& path, Report& report) {
  constexpr const char* kId = "status-root";
  const std::string type = string_at(schema, {"type"});
  const auto said = [&](const char* keyword) {
    // Of these the server cannot tell absence from nothing.
    static const std::set<std::string> plain = {"id", "$schema", "nullable",
                                                "x-kubernetes-embedded-resource",
                                                "x-kubernetes-int-or-string"};
    const Json* value = base::present_at(schema, {keyword});
    if (value == nullptr) return false;
    return plain.count(keyword) == 0 || (*value != false && *value != "");
  };
  const auto refuse = [&] {
    report.add(
        kId, field_invalid(path, shown_value(schema),
                           "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
                           "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems "
                           "UniqueItems MultipleOf Required Items Properties ExternalDocs Example "
                           "XPreserveUnknownFields XValidations] fields are allowed at the root of "
                           "the schema if the status subresource is enabled"));
  };
  for (const char* keyword : {"id", "$schema", "$ref"}) {
    if (said(keyword)) return refuse();
  }
  if (!type.empty() && type != "object") {
    report.add(kId, field_invalid(path + ".type", go_quoted(type),
                                  "only \"object\" is allowed as the type at the root of the "
                                  "schema if the status subresource is enabled"));
    return;
  }
  for (const char* keyword :
       {"nullable", "default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf",
        "not", "additionalProperties", "patternProperties", "dependencies", "additionalItems",
        "definitions", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type"}) {
    if (said(keyword)) return refuse();
  }
}

using NodeTest = std::function<bool(const Structural&)>;

// Of all that is in the schema, value validations as well, in the order in which the server walks.
bool any_node(const Structural& node, const NodeTest& test) {
  if (test(node)) return true;
  const auto below = [&](const StructuralPtr& one) { return one && any_node(*one, test); };
  if (below(node.items)) return true;
  for (const auto* list : {&node.all_of, &node.any_of, &node.one_of}) {
    if (std::any_of(list->begin(), list->end(), below)) return true;
  }
  if (below(node.not_schema)) return true;
  for (const auto& [key, property] : node.properties) {
    if (below(property)) return true;
  }
  return below(node.additional_properties);
}

std::string why_unreadable_node(const Structural& node) {
  for (const char* keyword : {"id", "$schema", "$ref", "patternProperties", "dependencies",
                              "additionalItems", "definitions"}) {
    if (std::count(node.forbidden.begin(), node.forbidden.end(), keyword) == 0) continue;
    const std::string_view told = keyword == std::string_view("$schema") ? "schema" : keyword;
    return fmt::format("OpenAPIV3Schema '{}' is not supported", told);
  }
  if (node.preserve_unknown_fields == false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  const bool items =
      std::count(node.forbidden.begin(), node.forbidden.end(), std::string("items")) != 0;
  return items ? "OpenAPIV3Schema 'items' must be a schema, but is an array" : "";
}

}  // namespace

std::string why_unreadable(const Structural& root) {
  std::string why;
  any_node(root, [&why](const Structural& node) {
    why = why_unreadable_node(node);
    return !why.empty();
  });
  return why;
}

namespace {

struct SchemaPlace {
  std::string path;  // of openAPIV3Schema
  bool status = false;
  bool unchanged = false;
};

void check_schema(const Json& schema, const SchemaPlace& place, const RuleChecker* rules,
                  Report& report) {
  const std::size_t before = report.size();
  if (place.status) check_root_keywords(schema, place.path, report);
  const auto root = parse_structural(schema);
  if (!root) {
    report.add("schema", field_invalid(place.path, "\"\"", root.error().message()));
    return;
  }
  if ((*root)->nullable) {
    report.add("nullable-root",
               field_forbidden(place.path + ".nullable", "nullable cannot be true at the root"));
  }
  const std::string unreadable = why_unreadable(**root);
  const std::size_t structural = report.size();
  if (unreadable.empty()) {
    check_structural(**root, place.path, report.findings());
    if (report.size() == structural) check_defaults(**root, place.path, rules, report);
  }
  const bool sound = unreadable.empty() && report.size() == structural;
  const std::size_t keywords = report.size();
  check_schema_keywords(**root, place.path, report);
  if (rules != nullptr && sound && report.size() == keywords) {
    FieldErrors errors;
    rules->check(*root, place.path, place.unchanged, errors);
    for (auto& error : errors) report.add("cel", std::move(error));
  }
  if (!unreadable.empty() && report.size() == before) {
    report.add("forbidden-keyword", field_invalid(place.path, "\"\"", unreadable));
  }
}

class CrdCheck {
 public:
  CrdCheck(const Json& crd, const CrdCheckOptions& options, Findings& findings)
      : crd_(crd), versions_(versions_of(crd)), options_(options), report_(findings) {
    shared_schema_ = is_shared(versions_, "schema");
    shared_subresources_ = is_shared(versions_, "subresources");
    shared_columns_ = is_shared(versions_, "additionalPrinterColumns");
    shared_fields_ = is_shared(versions_, "selectableFields");
  }

  void run() {
    check_crd_group(crd_, options_.live == nullptr && options_.name, report_);
    check_schemas_there();
    const bool preserve = base::find(crd_, {"spec", "preserveUnknownFields"}) != nullptr &&
                          crd_.at("spec").at("preserveUnknownFields") == true;
    if (preserve && has_defaults()) {
      report_.add("preserve-unknown-fields",
                  field_invalid("spec.preserveUnknownFields", "true",
                                "must be false in order to use defaults in the schema"));
    }
    check_versions();
    check_crd_names(crd_, report_);
    if (shared_schema_) {
      const bool any = std::any_of(versions_.begin(), versions_.end(), has_status);
      check_schema_of(versions_[0], "spec.validation.openAPIV3Schema", any);
    }
    if (!versions_.empty()) check_beside(versions_[0], "spec", true);
    if (crd_.contains("spec")) check_conversion(crd_.at("spec"), report_);
    if (options_.live != nullptr) check_crd_update(crd_, *options_.live, report_);
    check_crd_stored_versions(crd_, options_.live, report_);
    check_api_approval(crd_, options_.live, report_);
    if (preserve) {
      report_.add("preserve-unknown-fields",
                  field_invalid("spec.preserveUnknownFields", "true",
                                "cannot set to true, set x-kubernetes-preserve-unknown-fields to "
                                "true in spec.versions[*].schema instead"));
    }
  }

 private:
  void check_schemas_there() {
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const Json* schema = base::find(versions_[i], {"schema", "openAPIV3Schema"});
      if (schema != nullptr && !schema->is_null()) continue;
      report_.add("schema-required",
                  field_required(fmt::format("spec.versions[{}].schema.openAPIV3Schema", i)));
    }
  }

  bool has_defaults() const {
    return std::any_of(versions_.begin(), versions_.end(), [](const Json& version) {
      const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
      if (schema == nullptr) return false;
      const auto root = parse_structural(*schema);
      return root.ok() && any_node(**root, [](const Structural& node) {
               return node.default_value.has_value();
             });
    });
  }

  void check_schema_of(const Json& version, const std::string& path, bool status) {
    const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr || schema->is_null()) return;
    SchemaPlace place{path, status, false};
    if (options_.live != nullptr) {
      for (const auto& one : versions_of(*options_.live)) {
        if (string_at(one, {"name"}) != string_at(version, {"name"})) continue;
        const Json* before = base::find(one, {"schema", "openAPIV3Schema"});
        place.unchanged = before != nullptr && *before == *schema;
      }
    }
    check_schema(*schema, place, options_.rules, report_);
  }

  // Subresources, columns and selectable fields, where they stand for all versions or for one.
  void check_beside(const Json& version, const std::string& path, bool shared) {
    const Json* subresources = base::present_at(version, {"subresources"});
    if (subresources != nullptr && shared == shared_subresources_) {
      check_scale(*subresources, path + ".subresources", report_);
    }
    const Json* columns = base::present_at(version, {"additionalPrinterColumns"});
    if (columns != nullptr && columns->is_array() && shared == shared_columns_) {
      check_columns(*columns, path + ".additionalPrinterColumns", report_);
    }
    const Json* fields = base::present_at(version, {"selectableFields"});
    if (fields == nullptr || !fields->is_array() || fields->empty() || shared != shared_fields_) {
      return;
    }
    // The server looks for the schema where the fields stand.
    const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
    if (shared != shared_schema_ || schema == nullptr || schema->is_null()) {
      report_.add("selectable-field",
                  field_invalid(path + ".selectableFields", "\"\"",
                                std::string(shared ? kSharedFieldsAlone : kSharedSchemaAlone)));
      return;
    }
    const auto root = parse_structural(*schema);
    if (const std::string why = root ? why_unreadable(**root) : ""; !why.empty()) {
      report_.add("selectable-field", field_invalid(path + ".schema.openAPIV3Schema", "\"\"", why));
    }
    check_selectable_fields(*fields, root ? root->get() : nullptr, path + ".selectableFields",
                            report_);
  }

  void check_versions() {
    std::size_t stored = 0;
    std::set<std::string> names;
    for (std::size_t i = 0; i < versions_.size(); ++i) {
      const Json& version = versions_[i];
      const std::string path = fmt::format("spec.versions[{}]", i);
      const std::string name = string_at(version, {"name"});
      stored += base::bool_at(version, {"storage"}) ? 1U : 0U;
      names.insert(name);
      const std::string problem = check_dns1035_label(name);
      if (!problem.empty()) {
        report_.add("version-name", field_invalid(path + ".name", go_quoted(name), problem));
      }
      check_deprecation(version, path, report_);
      if (!shared_schema_) {
        check_schema_of(version, path + ".schema.openAPIV3Schema", has_status(version));
      }
      check_beside(version, path, false);
    }
    const Json* versions = base::find(crd_, {"spec", "versions"});
    const std::string shown = versions == nullptr ? "null" : shown_value(*versions);
    if (names.size() != versions_.size()) {
      report_.add("version-name",
                  field_invalid("spec.versions", shown, "must contain unique version names"));
    }
    if (stored != 1) {
      report_.add("storage-version",
                  field_invalid("spec.versions", shown,
                                "must have exactly one version marked as storage version"));
    }
    if (versions_.empty()) return;
    // What the server takes from the first version is checked once more.
    const std::string first = string_at(versions_[0], {"name"});
    const std::string problem = check_dns1035_label(first);
    if (!first.empty() && !problem.empty()) {
      report_.add("version-name", field_invalid("spec.version", go_quoted(first), problem));
    }
  }

  const Json& crd_;
  const Json& versions_;
  const CrdCheckOptions& options_;
  Report report_;
  bool shared_schema_ = false, shared_subresources_ = false;
  bool shared_columns_ = false, shared_fields_ = false;
};

}  // namespace

Findings check_crd(const Json& crd, const CrdCheckOptions& options) {
  Findings findings;
  CrdCheck(crd, options, findings).run();
  return findings;
}

Findings check_crd_status(const Json& crd) {
  Findings findings;
  Report report(findings);
  const Json* names = base::find(crd, {"status", "acceptedNames"});
  if (names != nullptr) check_name_shapes(*names, "status.acceptedNames", report);
  return findings;
}

FieldErrors errors_of(const Findings& findings) {
  FieldErrors out;
  for (const auto& finding : findings) out.push_back(finding.error);
  return out;
}

void crd_defaults(Json& crd) {
  Json& spec = crd["spec"];
  if (!spec.is_object()) spec = Json::object();
  Json& names = spec["names"];
  if (!names.is_object()) names = Json::object();
  const std::string kind = string_at(names, {"kind"});
  if (!kind.empty() && string_at(names, {"singular"}).empty()) {
    names["singular"] = base::to_lower(kind);
  }
  if (!kind.empty() && string_at(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  if (!spec.contains("conversion") || spec["conversion"].is_null()) {
    spec["conversion"] = {{"strategy", "None"}};
  }
  Json* service = base::find(spec, {"conversion", "webhook", "clientConfig", "service"});
  if (service != nullptr && service->is_object() && !service->contains("port")) {
    (*service)["port"] = 443;
  }
}

bool has_crd_condition(const Json& crd, std::string_view type) {
  const Json& conditions = base::items_at(crd, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& one) {
    return string_at(one, {"type"}) == type && string_at(one, {"status"}) == "True";
  });
}

bool is_crd_established(const Json& crd) {
  return has_crd_condition(crd, "Established");
}

namespace {

// With repetitions, as the server warns.
std::vector<std::string> unknown_formats(const Json& crd) {
  std::vector<std::string> out;
  const Json& versions = versions_of(crd);
  const bool shared = is_shared(versions, "schema");
  for (const auto& version : versions) {
    const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr) continue;
    const auto root = parse_structural(*schema);
    if (!root) continue;
    any_node(**root, [&](const Structural& node) {
      const bool known = node.format.empty() || is_known_format(node.type, node.format);
      if (!known) out.push_back(node.format);
      return false;
    });
    if (shared) break;
  }
  return out;
}

}  // namespace

std::vector<std::string> crd_warnings(const Json& crd, const Json* live) {
  const auto before = live == nullptr ? std::vector<std::string>() : unknown_formats(*live);
  std::vector<std::string> out;
  for (const auto& format : unknown_formats(crd)) {
    if (std::find(before.begin(), before.end(), format) != before.end()) continue;
    const std::string text = fmt::format("unrecognized format {}", go_quoted(format));
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  }
  return out;
}

}  // namespace kubewatch::schema
