#include "apiserver/crd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "core/resource.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

std::string quoted(const std::string& text) {
  return base::dump_json(Json(text));
}

Error misread(const std::string& why) {
  return bad_request(
      "CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: "
      "json: cannot unmarshal " +
      why);
}

bool strings_only(const Json& list) {
  return list.is_array() &&
         std::all_of(list.begin(), list.end(), [](const Json& one) { return one.is_string(); });
}

Result<void> check_shape(const Json& crd) {
  const Json* spec = base::find(crd, {"spec"});
  if (spec != nullptr && !spec->is_object()) return misread("spec into Go struct field");
  const Json* names = base::find(crd, {"spec", "names"});
  if (names != nullptr && !names->is_object()) return misread("spec.names into Go struct field");
  for (const char* key : {"shortNames", "categories"}) {
    const Json* list = base::find(crd, {"spec", "names", key});
    if (list != nullptr && !list->is_null() && !strings_only(*list)) {
      return misread(fmt::format("spec.names.{} into Go value of type []string", key));
    }
  }
  const Json* versions = base::find(crd, {"spec", "versions"});
  if (versions == nullptr) return {};
  if (!versions->is_array()) return misread("spec.versions into Go struct field");
  for (const auto& version : *versions) {
    if (!version.is_object()) return misread("spec.versions into Go struct field");
    for (const char* key : {"served", "storage"}) {
      const auto it = version.find(key);
      if (it != version.end() && !it->is_boolean()) {
        return misread(fmt::format("spec.versions.{} into Go value of type bool", key));
      }
    }
  }
  return {};
}

void check_names(const Json& crd, FieldErrors& errors) {
  const std::string plural = string_at(crd, {"spec", "names", "plural"});
  const std::string group = string_at(crd, {"spec", "group"});
  const std::string name = string_at(crd, {"metadata", "name"});
  if (group.empty()) errors.push_back(field_required("spec.group"));
  if (!group.empty() && group.find('.') == std::string::npos) {
    errors.push_back(
        field_invalid("spec.group", quoted(group), "should be a domain with at least one dot"));
  }
  if (name != plural + "." + group) {
    errors.push_back(
        field_invalid("metadata.name", quoted(name), "must be spec.names.plural+\".\"+spec.group"));
  }
  for (const char* key : {"plural", "singular", "kind", "listKind"}) {
    const std::string value = string_at(crd, {"spec", "names", key});
    const std::string field = fmt::format("spec.names.{}", key);
    if (value.empty()) {
      errors.push_back(field_required(field));
      continue;
    }
    const std::string problem = core::check_dns_label(base::to_lower(value));
    if (!problem.empty()) errors.push_back(field_invalid(field, quoted(value), problem));
  }
  const std::string scope = string_at(crd, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    errors.push_back(scope.empty() ? field_required("spec.scope")
                                   : field_not_supported("spec.scope", quoted(scope),
                                                         {"Cluster", "Namespaced"}));
  }
}

void check_versions(const Json& crd, FieldErrors& errors) {
  const Json* versions = base::find(crd, {"spec", "versions"});
  std::size_t stored = 0;
  std::set<std::string> seen;
  for (std::size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    const Json& version = (*versions)[i];
    const std::string field = fmt::format("spec.versions[{}]", i);
    const std::string name = string_at(version, {"name"});
    const std::string problem = core::check_dns_label(name);
    if (!problem.empty()) errors.push_back(field_invalid(field + ".name", quoted(name), problem));
    if (!seen.insert(name).second) {
      errors.push_back(field_duplicate(field + ".name", quoted(name)));
    }
    stored += version.value("storage", false) ? 1U : 0U;
    const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr || !schema->is_object()) {
      errors.push_back(field_required(field + ".schema.openAPIV3Schema"));
    } else if (string_at(*schema, {"type"}).empty()) {
      errors.push_back(
          field_required(field + ".schema.openAPIV3Schema.type", "must not be empty at the root"));
    }
  }
  if (stored != 1) {
    errors.push_back(field_invalid("spec.versions", "null",
                                   "must have exactly one version marked as storage version"));
  }
}

// Names taken by others of the same group.
bool taken_plural(const Registry& registry, const std::string& group, const std::string& self,
                  const std::string& name) {
  return std::any_of(registry.all().begin(), registry.all().end(), [&](const auto& other) {
    const auto& type = other->type;
    if (type.gvk.group != group || other->storage_id == self) return false;
    return type.plural == name || type.singular == name ||
           std::count(type.short_names.begin(), type.short_names.end(), name) != 0;
  });
}

bool taken_kind(const Registry& registry, const std::string& group, const std::string& self,
                const std::string& kind) {
  return std::any_of(registry.all().begin(), registry.all().end(), [&](const auto& other) {
    if (other->type.gvk.group != group || other->storage_id == self) return false;
    return other->type.gvk.kind == kind || other->list_kind == kind;
  });
}

}  // namespace

Result<void> normalise_crd(const Resource&, Json& crd) {
  KW_TRY(check_shape(crd));
  Json& names = crd["spec"]["names"];
  if (!names.is_object()) names = Json::object();
  const std::string kind = string_at(names, {"kind"});
  if (kind.empty()) return {};
  if (string_at(names, {"singular"}).empty()) names["singular"] = base::to_lower(kind);
  if (string_at(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  if (!crd["spec"].contains("conversion")) crd["spec"]["conversion"] = {{"strategy", "None"}};
  return {};
}

void prepare_crd(Json& crd) {
  Json stored = Json::array();
  if (const Json* versions = base::find(crd, {"spec", "versions"});
      versions && versions->is_array()) {
    for (const auto& version : *versions) {
      if (version.value("storage", false)) stored.push_back(string_at(version, {"name"}));
    }
  }
  crd["status"] = {{"conditions", Json::array()},
                   {"acceptedNames", {{"plural", ""}, {"kind", ""}}},
                   {"storedVersions", stored}};
}

void keep_status_subresources(const Json& from, Json& to) {
  const Json* sources = base::find(from, {"spec", "versions"});
  Json* targets = base::find(to, {"spec", "versions"});
  if (sources == nullptr || targets == nullptr || !sources->is_array()) return;
  for (const auto& source : *sources) {
    const Json* status = base::find(source, {"subresources", "status"});
    if (status == nullptr || !status->is_object()) continue;
    for (auto& target : *targets) {
      if (string_at(target, {"name"}) == string_at(source, {"name"})) {
        target["subresources"]["status"] = *status;
      }
    }
  }
}

void validate_crd(const Json* live, const Json& crd, FieldErrors& errors) {
  check_names(crd, errors);
  check_versions(crd, errors);
  const std::string strategy = string_at(crd, {"spec", "conversion", "strategy"});
  if (strategy != "None" && !strategy.empty()) {
    errors.push_back(field_not_supported("spec.conversion.strategy", quoted(strategy), {"None"}));
  }
  if (live == nullptr || !is_established(*live)) return;
  for (const char* key : {"group", "scope"}) {
    const std::string value = string_at(crd, {"spec", key});
    if (value != string_at(*live, {"spec", key})) {
      errors.push_back(
          field_invalid(fmt::format("spec.{}", key), quoted(value), "field is immutable"));
    }
  }
}

NameConflict find_name_conflict(const Registry& registry, const Json& crd) {
  const std::string group = string_at(crd, {"spec", "group"});
  const Json names = crd.at("spec").at("names");
  const std::string plural = string_at(names, {"plural"});
  const std::string self = plural + "." + group;
  const auto used = [](const std::string& name) {
    return fmt::format("\"{}\" is already in use", name);
  };
  if (taken_plural(registry, group, self, plural)) return {"PluralConflict", used(plural)};
  const std::string singular = string_at(names, {"singular"});
  if (taken_plural(registry, group, self, singular)) return {"SingularConflict", used(singular)};
  if (const Json* shorts = base::find(names, {"shortNames"}); shorts && shorts->is_array()) {
    for (const auto& one : *shorts) {
      const std::string name = one.get<std::string>();
      if (taken_plural(registry, group, self, name)) return {"ShortNamesConflict", used(name)};
    }
  }
  const std::string list_kind = string_at(names, {"listKind"});
  if (taken_kind(registry, group, self, list_kind)) return {"ListKindConflict", used(list_kind)};
  const std::string kind = string_at(names, {"kind"});
  if (taken_kind(registry, group, self, kind)) return {"KindConflict", used(kind)};
  return {};
}

void set_condition(Json& status, const std::string& type, const std::string& value,
                   const std::string& reason, const std::string& message, WallTime now) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const Json next = {{"type", type},
                     {"status", value},
                     {"reason", reason},
                     {"message", message},
                     {"lastTransitionTime", base::format_rfc3339(now)}};
  for (auto& one : conditions) {
    if (string_at(one, {"type"}) != type) continue;
    const Json since = one.value("lastTransitionTime", Json());
    const bool same = string_at(one, {"status"}) == value;
    one = next;
    if (same && !since.is_null()) one["lastTransitionTime"] = since;
    return;
  }
  conditions.push_back(next);
}

Json crd_status(const Json& crd, const NameConflict& conflict, WallTime now) {
  Json status = crd.value("status", Json::object());
  if (conflict.reason.empty()) {
    status["acceptedNames"] = crd.at("spec").at("names");
    set_condition(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
    set_condition(status, "Established", "True", "InitialNamesAccepted",
                  "the initial names have been accepted", now);
  } else {
    set_condition(status, "NamesAccepted", "False", conflict.reason, conflict.message, now);
    set_condition(status, "Established", "False", "NotAccepted", "not all names are accepted", now);
  }
  Json& stored = status["storedVersions"];
  if (!stored.is_array()) stored = Json::array();
  for (const auto& version : crd.at("spec").at("versions")) {
    const Json name = string_at(version, {"name"});
    const bool known = std::find(stored.begin(), stored.end(), name) != stored.end();
    if (version.value("storage", false) && !known) stored.push_back(name);
  }
  return status;
}

bool is_established(const Json& crd) {
  const Json* conditions = base::find(crd, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::any_of(conditions->begin(), conditions->end(), [](const Json& one) {
    return string_at(one, {"type"}) == "Established" && string_at(one, {"status"}) == "True";
  });
}

}  // namespace kubewatch::apiserver
