#include "apiserver/version_owners.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/convert.hpp"
#include "apiserver/strategy.hpp"

namespace kubewatch::apiserver {

namespace {

// Stands for the owners of other versions; no client may call itself so.
constexpr const char* kGuard = "\n";

const Json* entries_of(const Json& object) {
  const Json* list = schema::managed_fields_of(object);
  return list != nullptr && list->is_array() && !list->empty() ? list : nullptr;
}

// Somebody asks that all owners be forgotten.
bool forgets(const Json& object) {
  const Json* list = schema::managed_fields_of(object);
  if (list == nullptr || !list->is_array()) return false;
  return list->empty() || (list->size() == 1 && list->front() == Json::object());
}

void drop_guard(Json& object) {
  Json* list = base::find(object, {"metadata", "managedFields"});
  if (list == nullptr || !list->is_array()) return;
  std::erase_if(list->get_ref<Json::array_t&>(),
                [](const Json& entry) { return base::string_at(entry, {"manager"}) == kGuard; });
}

std::string identity_of(const schema::ApplyRequest& request) {
  schema::ManagedEntry own;
  own.manager = request.manager.empty() ? "unknown" : request.manager;
  own.applied = true;
  own.subresource = request.subresource;
  return own.identity();
}

}  // namespace

ResourcePtr VersionOwners::version_of(const schema::ManagedEntry& entry) const {
  const std::string& version = entry.api_version;
  return registry_.find(own_.type.gvk.group, version.substr(version.find('/') + 1),
                        own_.type.plural);
}

Json VersionOwners::shown_in(const Resource& version, const Json& object) const {
  return to_served(version, to_stored(own_, schema::without_managed(object)));
}

schema::Comparison VersionOwners::changes_in(const Resource& version,
                                             const std::string& subresource,
                                             const Json& after) const {
  const Json shown = shown_in(version, after);
  schema::Comparison changes = schema::compare(*version.merge, shown_in(version, before_), shown);
  changes.exclude(ignored_fields(version, shown, subresource));
  return changes;
}

void VersionOwners::take_from(Json& object) {
  const Json* found = entries_of(object);
  others_.clear();
  if (found == nullptr) return;
  const std::string version = own_.type.gvk.api_version();
  Json own = Json::array();
  entries_ = Json::array();
  for (const Json& entry : *found) {
    (base::string_at(entry, {"apiVersion"}) == version ? own : entries_).push_back(entry);
  }
  auto decoded = schema::decode_managed(&entries_);
  if (!decoded || decoded->empty()) return;
  others_ = std::move(*decoded);
  own.push_back({{"manager", kGuard},
                 {"operation", "Update"},
                 {"apiVersion", version},
                 {"fieldsType", "FieldsV1"},
                 {"fieldsV1", Json::object()}});
  object["metadata"]["managedFields"] = std::move(own);
}

void VersionOwners::guard_common_fields() {
  schema::FieldSet common;
  for (const auto& [identity, entry] : others_) common.merge_in(entry.fields);
  common = common.intersect(schema::to_field_set(*own_.merge, schema::without_managed(before_)));
  before_["metadata"]["managedFields"].back()["fieldsV1"] = common.to_fields_v1();
}

void VersionOwners::give_back(const std::string& subresource, Json& after) {
  drop_guard(after);
  auto decoded = schema::decode_managed(schema::managed_fields_of(after));
  if (!decoded) return;
  schema::Managed managed = std::move(*decoded);
  for (auto& [identity, entry] : others_) {
    const ResourcePtr version = version_of(entry);
    if (!version || managed.count(identity) != 0) continue;
    const schema::Comparison changes = changes_in(*version, subresource, after);
    entry.subtract(changes.modified);
    entry.subtract(changes.added);
    entry.subtract(changes.removed);
    managed.emplace(identity, entry);
  }
  schema::drop_empty(managed);
  schema::cap_updaters(managed);
  schema::set_managed(after, managed);
}

Result<Json> VersionOwners::track(schema::UpdateRequest request) {
  if (request.live == nullptr) return schema::track_update(request);
  before_ = *request.live;
  const bool sent = request.subresource.empty() && entries_of(request.updated) != nullptr;
  const bool forgotten = request.subresource.empty() && forgets(request.updated);
  if (!forgotten) {
    take_from(before_);
    if (sent) take_from(request.updated);
  }
  if (others_.empty()) return schema::track_update(request);
  request.live = &before_;
  const std::string subresource = request.subresource;
  KW_ASSIGN(Json tracked, schema::track_update(request));
  give_back(subresource, tracked);
  return tracked;
}

void VersionOwners::prune_former(const schema::ApplyRequest& request) {
  const auto former = others_.find(identity_of(request));
  if (former == others_.end()) return;
  const ResourcePtr version = version_of(former->second);
  schema::FieldSet lost = std::exchange(former->second, {}).fields;
  others_.erase(former);
  if (!version) return;
  lost.subtract(schema::to_field_set(*version->merge, shown_in(*version, request.applied)));
  for (const auto& [identity, entry] : others_) lost.subtract(entry.fields);
  const auto own = schema::decode_managed(schema::managed_fields_of(before_));
  if (!own) return;
  for (const auto& [identity, entry] : *own) lost.subtract(entry.fields);
  if (lost.empty()) return;
  Json managed = *schema::managed_fields_of(before_);
  const Json left = schema::remove_items(*version->merge, shown_in(*version, before_), lost);
  before_ = to_served(own_, to_stored(*version, left));
  before_["metadata"]["managedFields"] = std::move(managed);
}

std::vector<schema::Conflict> VersionOwners::conflicts(const schema::ApplyRequest& request,
                                                       const Json& after) const {
  std::vector<schema::Conflict> out;
  for (const auto& [identity, entry] : others_) {
    const ResourcePtr version = version_of(entry);
    if (!version) continue;
    schema::Comparison changes = changes_in(*version, request.subresource, after);
    changes.modified.merge_in(changes.added);
    for (auto& path : entry.fields.intersect(changes.modified).paths()) {
      out.push_back({entry.text(request.told_version), std::move(path)});
    }
  }
  return out;
}

Result<schema::ApplyOutcome> VersionOwners::apply(schema::ApplyRequest request) {
  if (request.live == nullptr) return schema::apply(request);
  before_ = *request.live;
  take_from(before_);
  if (others_.empty()) return schema::apply(request);
  prune_former(request);
  guard_common_fields();
  request.live = &before_;
  const bool force = std::exchange(request.force, true);
  KW_ASSIGN(schema::ApplyOutcome outcome, schema::apply(request));
  if (!force) {
    request.force = false;
    KW_ASSIGN(schema::ApplyOutcome refused, schema::apply(request));
    std::erase_if(refused.conflicts, [](const schema::Conflict& one) {
      return one.manager_text.starts_with(R"("\n")");
    });
    for (auto& one : conflicts(request, outcome.object)) {
      refused.conflicts.push_back(std::move(one));
    }
    if (!refused.conflicts.empty()) return refused;
  }
  give_back(request.subresource, outcome.object);
  return outcome;
}

}  // namespace kubewatch::apiserver
