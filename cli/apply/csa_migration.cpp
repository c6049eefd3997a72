#include "cli/apply/csa_migration.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/apply/field_conflict.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

bool is_client_side(const schema::ManagedEntry& entry, bool has_annotation,
                    const std::vector<std::string>& more) {
  if (entry.applied || !entry.subresource.empty()) return false;
  if (entry.manager == "kubectl-client-side-apply") return true;
  if (entry.manager == "before-first-apply" && has_annotation) return true;
  return std::find(more.begin(), more.end(), entry.manager) != more.end();
}

// Takes out what is marked, and what holds nothing more because of that. Whether anything went.
bool sweep(Json& value) {
  bool any = false;
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      const bool inner = !it->is_discarded() && sweep(*it);
      const bool drop = it->is_discarded() || (inner && it->empty());
      any = any || inner || drop;
      it = drop ? value.erase(it) : std::next(it);
    }
  } else if (value.is_array()) {
    for (auto it = value.begin(); it != value.end();) {
      const bool inner = !it->is_discarded() && sweep(*it);
      const bool drop = it->is_discarded() || (inner && it->empty());
      any = any || inner || drop;
      it = drop ? value.erase(it) : std::next(it);
    }
  }
  return any;
}

}  // namespace

Result<std::optional<Migration>> plan_migration(const Json& live, const std::string& manager,
                                                const std::vector<std::string>& more) {
  KW_ASSIGN(schema::Managed managed, schema::decode_managed(schema::managed_fields_of(live)));
  const bool has_annotation =
      base::find(live, {"metadata", "annotations", kLastApplied}) != nullptr;
  schema::FieldSet moved;
  schema::FieldSet others;
  Migration out;
  schema::ManagedEntry target;
  for (auto it = managed.begin(); it != managed.end();) {
    const schema::ManagedEntry& entry = it->second;
    if (!is_client_side(entry, has_annotation, more)) {
      others.merge_in(entry.fields);
      ++it;
      continue;
    }
    if (std::find(out.managers.begin(), out.managers.end(), entry.manager) == out.managers.end()) {
      out.managers.push_back(entry.manager);
    }
    moved.merge_in(entry.fields);
    target.api_version = entry.api_version;
    target.time = std::max(target.time, entry.time);
    it = managed.erase(it);
  }
  if (out.managers.empty()) return std::optional<Migration>();
  for (const auto& path : moved.leaves().difference(others).paths()) {
    out.paths.push_back(schema::path_str(path));
  }
  target.manager = manager;
  target.applied = true;
  if (const auto own = managed.find(target.identity()); own != managed.end()) {
    target.api_version = own->second.api_version;
    target.time = own->second.time;
    moved.merge_in(own->second.fields);
  }
  target.fields = std::move(moved);
  managed[target.identity()] = std::move(target);
  // The resourceVersion makes the server refuse it when anything changed since.
  out.patch = Json::array({{{"op", "replace"},
                            {"path", "/metadata/managedFields"},
                            {"value", schema::encode_managed(managed)}},
                           {{"op", "replace"},
                            {"path", "/metadata/resourceVersion"},
                            {"value", base::string_at(live, {"metadata", "resourceVersion"})}}});
  return std::optional<Migration>(std::move(out));
}

void rehearse(const Migration& migration, const std::string& manager, Json& after) {
  const auto managed = schema::decode_managed(schema::managed_fields_of(after));
  if (!managed.ok()) return;
  std::set<std::string> kept;
  for (const auto& [identity, entry] : *managed) {
    if (!entry.applied || entry.manager != manager) continue;
    for (const auto& path : entry.fields.paths()) kept.insert(schema::path_str(path));
  }
  // Marked first: a list's items are found by keys that go as well.
  std::vector<Json*> gone;
  for (const auto& path : migration.paths) {
    if (kept.count(path) > 0) continue;
    if (const Json* value = value_at_field(after, path)) gone.push_back(const_cast<Json*>(value));
  }
  for (Json* value : gone) *value = Json(Json::value_t::discarded);
  if (!gone.empty()) sweep(after);
}

}  // namespace kubewatch::cli
