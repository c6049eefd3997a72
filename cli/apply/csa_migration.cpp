#include "cli/apply/csa_migration.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/server_fields.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::cli {

namespace {

bool is_client_side(const schema::ManagedEntry& entry, bool has_annotation,
                    const std::vector<std::string>& more) {
  if (entry.applied || !entry.subresource.empty()) return false;
  if (entry.manager == "kubectl-client-side-apply") return true;
  if (entry.manager == "before-first-apply" && has_annotation) return true;
  return std::find(more.begin(), more.end(), entry.manager) != more.end();
}

bool has_keys(const Json& item, const Json& keys) {
  if (!item.is_object()) return false;
  return std::all_of(keys.items().begin(), keys.items().end(), [&](const auto& key) {
    const auto found = item.find(key.key());
    return found != item.end() && *found == key.value();
  });
}

const Json* step_into(const Json& value, const schema::PathElement& step) {
  using Kind = schema::PathElement::Kind;
  if (step.kind == Kind::field) {
    const auto found = value.is_object() ? value.find(step.field) : value.end();
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  if (step.kind == Kind::index) {
    const bool there = step.index >= 0 && static_cast<std::size_t>(step.index) < value.size();
    return there ? &value[static_cast<std::size_t>(step.index)] : nullptr;
  }
  const auto found = std::find_if(value.begin(), value.end(), [&](const Json& item) {
    return step.kind == Kind::key ? has_keys(item, step.json) : item == step.json;
  });
  return found == value.end() ? nullptr : &*found;
}

// By steps and not by text: `.x.a` is the same text for the key `a` of x and for the key `x.a`.
const Json* at_path(const Json& object, const schema::Path& path) {
  const Json* value = &object;
  for (const auto& step : path) {
    value = step_into(*value, step);
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool sweep(Json& value, const std::set<const Json*>& gone);

// Whether this one goes: it is named, or holds nothing more because of what went in it.
bool goes(Json& value, const std::set<const Json*>& gone, bool& any) {
  const bool named = gone.count(&value) > 0;
  const bool inner = !named && sweep(value, gone);
  any = any || named || inner;
  return named || (inner && value.empty());
}

// Takes out what is named, and what holds nothing more because of that. Whether anything went.
// Nothing is moved or freed before it was compared: one of `gone` may lie in another one.
bool sweep(Json& value, const std::set<const Json*>& gone) {
  bool any = false;
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      it = goes(*it, gone, any) ? value.erase(it) : std::next(it);
    }
  } else if (value.is_array()) {
    Json kept = Json::array();
    for (Json& item : value) {
      if (!goes(item, gone, any)) kept.push_back(std::move(item));
    }
    value = std::move(kept);
  }
  return any;
}

}  // namespace

Result<std::optional<Migration>> plan_migration(const Json& live, const std::string& manager,
                                                const std::vector<std::string>& more) {
  KW_ASSIGN(schema::Managed managed, schema::decode_managed(schema::managed_fields_of(live)));
  const bool has_annotation =
      base::find(live, {"metadata", "annotations", core::kLastAppliedAnnotation}) != nullptr;
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
  out.paths = moved.leaves().difference(others).paths();
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

bool rehearse(const Migration& migration, const std::string& manager, Json& after) {
  const auto managed = schema::decode_managed(schema::managed_fields_of(after));
  if (!managed.ok()) return false;
  schema::FieldSet kept;
  for (const auto& [identity, entry] : *managed) {
    if (entry.applied && entry.manager == manager) kept.merge_in(entry.fields);
  }
  // All are found before any goes: a list's items are found by keys that go as well.
  std::set<const Json*> gone;
  for (const auto& path : migration.paths) {
    if (kept.has(path)) continue;
    if (const Json* value = at_path(after, path)) gone.insert(value);
  }
  return !gone.empty() && sweep(after, gone);
}

}  // namespace kubewatch::cli
