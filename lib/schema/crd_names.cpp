// Group, names, approval and what an update may not change: the rules of crd_check.hpp that concern
// no version.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/go_json.hpp"
#include "core/resource.hpp"
#include "schema/crd_report.hpp"
#include "schema/embedded.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

using base::string_at;

namespace {

constexpr const char* kApproval = "api-approved.kubernetes.io";

void check_one_name(const Json& names, const std::string& path, const char* key, bool mixed_case,
                    Report& report) {
  const std::string value = string_at(names, {key});
  if (value.empty()) return;
  const std::string problem = check_dns1035_label(mixed_case ? base::to_lower(value) : value);
  if (problem.empty()) return;
  const std::string hint =
      mixed_case ? "may have mixed case, but should otherwise match: " + problem : problem;
  report.add("names", field_invalid(path + "." + key, go_quoted(value), hint));
}

void check_name_list(const Json& names, const std::string& path, const char* key, Report& report) {
  std::size_t index = 0;
  for (const auto& one : base::items_at(names, {key})) {
    const std::string name = one.is_string() ? one.get<std::string>() : "";
    const std::string field = fmt::format("{}.{}[{}]", path, key, index++);
    const std::string problem = check_dns1035_label(name);
    if (!problem.empty()) report.add("names", field_invalid(field, go_quoted(name), problem));
  }
}

enum class Approval { missing, bypassed, approved, wrong };

Approval approval_of(const Json& crd) {
  const Json* annotations = base::find(crd, {"metadata", "annotations"});
  const std::string value = annotations == nullptr ? "" : string_at(*annotations, {kApproval});
  if (value.empty()) return Approval::missing;
  if (value.starts_with("unapproved")) return Approval::bypassed;
  const std::size_t scheme = value.find("://");
  const bool url = scheme != std::string::npos && scheme > 0 && scheme + 3 < value.size() &&
                   value[scheme + 3] != '/';
  return url ? Approval::approved : Approval::wrong;
}

}  // namespace

const Json* crd_version(const Json& crd, std::string_view name) {
  for (const Json& version : base::items_at(crd, {"spec", "versions"})) {
    if (string_at(version, {"name"}) == name) return &version;
  }
  return nullptr;
}

std::string crd_name(const Json& crd) {
  return string_at(crd, {"spec", "names", "plural"}) + "." + string_at(crd, {"spec", "group"});
}

void check_crd_group(const Json& crd, bool named, Report& report) {
  const std::string name = string_at(crd, {"metadata", "name"});
  const std::string group = string_at(crd, {"spec", "group"});
  if (named && name.empty()) {
    report.add("crd-name", field_required("metadata.name", "name or generateName is required"));
  } else if (named && name != crd_name(crd)) {
    report.add("crd-name",
               field_invalid("metadata.name", go_quoted(name), std::string(kNoCrdName)));
  }
  const std::string problem = core::check_dns_subdomain(group);
  if (group.empty()) {
    report.add("group", field_required("spec.group"));
  } else if (!problem.empty()) {
    report.add("group", field_invalid("spec.group", go_quoted(group), problem));
  } else if (group.find('.') == std::string::npos) {
    report.add("group", field_invalid("spec.group", go_quoted(group),
                                      "should be a domain with at least one dot"));
  }
  const std::string scope = string_at(crd, {"spec", "scope"});
  if (scope.empty()) {
    report.add("scope", field_required("spec.scope"));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    report.add("scope",
               field_not_supported("spec.scope", core::go_json(scope), {"Cluster", "Namespaced"}));
  }
}

void check_crd_names(const Json& crd, Report& report) {
  const Json* found = base::find(crd, {"spec", "names"});
  const Json none = Json::object();
  const Json& names = found == nullptr ? none : *found;
  for (const char* key : {"plural", "singular", "kind", "listKind"}) {
    if (!string_at(names, {key}).empty()) continue;
    report.add("names", field_required(std::string("spec.names.") + key));
  }
  check_name_shapes(names, "spec.names", report);
}

void check_name_shapes(const Json& names, const std::string& path, Report& report) {
  check_one_name(names, path, "plural", false, report);
  check_one_name(names, path, "singular", false, report);
  check_one_name(names, path, "kind", true, report);
  check_one_name(names, path, "listKind", true, report);
  check_name_list(names, path, "shortNames", report);
  const std::string kind = string_at(names, {"kind"});
  if (!kind.empty() && kind == string_at(names, {"listKind"})) {
    report.add("names", field_invalid(path + ".listKind", go_quoted(kind),
                                      "kind and listKind may not be the same"));
  }
  check_name_list(names, path, "categories", report);
}

void check_api_approval(const Json& crd, const Json* live, Report& report) {
  const std::string group = string_at(crd, {"spec", "group"});
  const bool guarded = group == "k8s.io" || group.ends_with(".k8s.io") ||
                       group == "kubernetes.io" || group.ends_with(".kubernetes.io");
  if (!guarded) return;
  const Approval now = approval_of(crd);
  if (live != nullptr && approval_of(*live) == now) return;
  if (now != Approval::missing && now != Approval::wrong) return;
  const std::string field = fmt::format("metadata.annotations[{}]", kApproval);
  const std::string must =
      fmt::format("protected groups must have approval annotation \"{}\"", kApproval);
  const std::string see = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (now == Approval::missing) {
    report.add("api-approved", field_required(field, must + ", " + see));
    return;
  }
  const std::string value = string_at(*base::find(crd, {"metadata", "annotations"}), {kApproval});
  report.add(
      "api-approved",
      field_invalid(field, go_quoted(value),
                    must + " with either a URL or a reason starting with \"unapproved\", " + see));
}

void check_crd_update(const Json& crd, const Json& live, Report& report) {
  const auto immutable = [&](std::initializer_list<std::string_view> path, const char* field) {
    const std::string value = string_at(crd, path);
    if (value == string_at(live, path)) return;
    report.add("immutable", field_invalid(field, go_quoted(value), "field is immutable"));
  };
  if (is_crd_established(live)) {
    immutable({"spec", "scope"}, "spec.scope");
    immutable({"spec", "names", "kind"}, "spec.names.kind");
  }
  immutable({"spec", "group"}, "spec.group");
  immutable({"spec", "names", "plural"}, "spec.names.plural");
}

namespace {

// What status.storedVersions will be: the server adds the storage version by itself.
std::vector<std::string> stored_versions(const Json& crd, const Json* live, const Json& versions) {
  std::vector<std::string> out;
  if (live != nullptr) out = base::strings_at(crd, {"status", "storedVersions"});
  for (const auto& version : versions) {
    if (!base::bool_at(version, {"storage"})) continue;
    const std::string name = string_at(version, {"name"});
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    break;
  }
  return out;
}

}  // namespace

void check_crd_stored_versions(const Json& crd, const Json* live, Report& report) {
  constexpr const char* kId = "stored-versions";
  const Json& versions = base::items_at(crd, {"spec", "versions"});
  const auto stored = stored_versions(crd, live, versions);
  if (stored.empty()) {
    report.add(kId, field_invalid("status.storedVersions", "null",
                                  "must have at least one stored version"));
    return;
  }
  // Each counts for one version: a second one of its name has none.
  std::map<std::string, std::size_t> left;
  for (std::size_t i = 0; i < stored.size(); ++i) left[stored[i]] = i;
  for (const auto& version : versions) {
    const std::string name = string_at(version, {"name"});
    if (left.erase(name) != 0 || !base::bool_at(version, {"storage"})) continue;
    report.add(kId, field_invalid("status.storedVersions", shown_value(Json(stored)),
                                  "must have the storage version " + name));
  }
  for (const auto& [name, i] : left) {
    report.add(kId,
               field_invalid(fmt::format("status.storedVersions[{}]", i), go_quoted(name),
                             fmt::format("missing from spec.versions; {0} was previously a storage "
                                         "version, and must remain in spec.versions until a "
                                         "storage migration ensures no data remains persisted in "
                                         "{0} and removes {0} from status.storedVersions",
                                         name)));
  }
}

}  // namespace kubewatch::schema
