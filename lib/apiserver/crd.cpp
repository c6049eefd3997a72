#include "apiserver/crd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/resource.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

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

Result<void> normalise_crd(Json& crd) {
  const auto shape = schema::check_crd_shape(crd);
  if (!shape) {
    return undecodable({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                       shape.error().message());
  }
  schema::crd_defaults(crd);
  return {};
}

void prepare_crd(Json& crd) {
  Json stored = Json::array();
  if (const Json* versions = base::find(crd, {"spec", "versions"});
      versions && versions->is_array()) {
    for (const auto& version : *versions) {
      if (schema::bool_at(version, "storage")) stored.push_back(string_at(version, {"name"}));
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
  schema::CrdCheckOptions options;
  options.live = live;
  options.rules = &schema::rule_checker();
  const auto found = schema::errors_of(schema::check_crd(crd, options));
  errors.insert(errors.end(), found.begin(), found.end());
}

std::vector<std::string> crd_warnings(const Json& crd) {
  auto out = schema::crd_warnings(crd, nullptr);
  if (string_at(crd, {"spec", "conversion", "strategy"}) == "Webhook") {
    out.emplace_back(
        "spec.conversion: this server calls no conversion webhook; versions differ in apiVersion "
        "alone");
  }
  return out;
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
  if (!status.is_object()) status = Json::object();
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
    if (schema::bool_at(version, "storage") && !known) stored.push_back(name);
  }
  return status;
}

bool is_established(const Json& crd) {
  return schema::is_crd_established(crd);
}

}  // namespace kubewatch::apiserver
