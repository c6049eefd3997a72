#include "apiserver/version_owners.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/convert.hpp"
#include "apiserver/status.hpp"
#include "apiserver/strategy.hpp"
#include "schema/last_applied.hpp"

namespace kubewatch::apiserver {

namespace {

// Stands for the owners of other versions, so that the object does not seem to have none; no client
// may call itself so, and no field is called like the one that it owns.
constexpr const char* kGuard = "\n";

Json entry_of(const std::string& manager, const std::string& version, Json fields) {
  return {{"manager", manager},
          {"operation", "Apply"},
          {"apiVersion", version},
          {"fieldsType", "FieldsV1"},
          {"fieldsV1", std::move(fields)}};
}

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

// What is always there once the server has read the object as its type, be it empty.
void fill_required(Json& object) {
  Json& spec = object["spec"];
  if (!spec.is_object()) spec = Json::object();
  Json& target = spec["scaleTargetRef"];
  if (!target.is_object()) target = Json::object();
  for (const char* key : {"kind", "name"}) {
    if (!target.contains(key)) target[key] = "";
  }
  if (!spec.contains("maxReplicas")) spec["maxReplicas"] = 0;
}

// Each once: clients choose how many owners there are.
std::set<std::string> versions_of(const schema::Managed& owners) {
  std::set<std::string> out;
  for (const auto& [identity, entry] : owners) out.insert(entry.api_version);
  return out;
}

// Every member, with the fields above it.
schema::FieldSet members_of(const Resource& version, const Json& object) {
  return schema::with_named_parents(*version.merge, schema::to_field_set(*version.merge, object));
}

}  // namespace

Changes changes_by_version(const schema::Managed& owners, const CompareIn& compare_in) {
  Changes out;
  for (const auto& [identity, entry] : owners) {
    const auto [at, is_new] = out.try_emplace(entry.api_version);
    if (is_new) at->second = compare_in(entry.api_version);
  }
  return out;
}

bool has_other_owners(const Resource& own, const Json* object) {
  const Json* entries = object == nullptr ? nullptr : entries_of(*object);
  if (entries == nullptr || (!own.custom && !is_autoscaler(own))) return false;
  const std::string version = own.type.gvk.api_version();
  return std::any_of(entries->begin(), entries->end(), [&](const Json& entry) {
    return base::string_at(entry, {"apiVersion"}) != version;
  });
}

ResourcePtr VersionOwners::version_of(const std::string& api_version) const {
  const std::string group = own_.type.gvk.group + "/";
  if (!api_version.starts_with(group)) return nullptr;
  const std::string version = api_version.substr(group.size());
  ResourcePtr served = registry_.find(own_.type.gvk.group, version, own_.type.plural);
  if (served || definition_ == nullptr) return served;
  const auto [at, is_new] = unserved_.try_emplace(api_version);
  if (is_new) at->second = version_of_crd(definition_->json(), version);
  return at->second;
}

Json VersionOwners::converted(const Resource& from, const Resource& to, Json object) {
  if (from.type.gvk.version == to.type.gvk.version) return object;
  if (from.custom) {
    object["apiVersion"] = to.type.gvk.api_version();
    return object;
  }
  fill_required(object);
  return to_served(to, to_stored(from, std::move(object)));
}

Result<void> VersionOwners::check_fits(const std::string& api_version, const Json& object) const {
  if (!own_.custom || api_version == own_.type.gvk.api_version()) return {};
  const ResourcePtr version = version_of(api_version);
  if (!version) {
    return internal_error("request to convert CR to an invalid group/version: " + api_version);
  }
  const auto fits = schema::check_value(
      *version->merge, converted(own_, *version, schema::without_managed(object)), false);
  if (fits) return {};
  return internal_error(fits.error().message());
}

Result<void> VersionOwners::check_fits_others(const Json& object) const {
  if (!own_.custom) return {};
  for (const std::string& version : versions_of(others_)) KW_TRY(check_fits(version, object));
  return {};
}

Result<void> VersionOwners::check_merged(const Json& merged, const schema::FieldSet& last) const {
  if (!own_.custom) return {};
  const schema::FieldSet& before = former_.api_version.empty() ? last : former_.fields;
  if (before.empty()) return {};
  const auto why = [](std::string_view what, const Error& error) {
    return internal_error("failed to prune fields: " + std::string(what) + ": " + error.message());
  };
  if (!former_.api_version.empty()) {
    const auto fits = check_fits(former_.api_version, merged);
    if (!fits) return why("failed to convert merged object to last applied version", fits.error());
  }
  for (const std::string& version : versions_of(others_)) {
    const auto fits = check_fits(version, merged);
    if (fits) continue;
    return why("failed add back owned items: failed to convert merged object at version " + version,
               fits.error());
  }
  return {};
}

Changes VersionOwners::changes(const std::string& subresource, const Json& after) const {
  const Json before = schema::without_managed(before_);
  const Json now = schema::without_managed(after);
  return changes_by_version(others_, [&](const std::string& api_version) {
    const ResourcePtr version = version_of(api_version);
    if (!version) return schema::Comparison();
    const Json shown = converted(own_, *version, now);
    auto out = schema::compare(*version->merge, converted(own_, *version, before), shown);
    out.exclude(ignored_fields(*version, shown, subresource));
    return out;
  });
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
  own.push_back(entry_of(kGuard, version, {{"f:\n", Json::object()}}));
  object["metadata"]["managedFields"] = std::move(own);
}

void VersionOwners::give_back(const Changes& changes, Json& after) {
  drop_guard(after);
  auto decoded = schema::decode_managed(schema::managed_fields_of(after));
  if (!decoded) return;
  schema::Managed managed = std::move(*decoded);
  for (auto& [identity, entry] : others_) {
    if (!version_of(entry.api_version) || managed.count(identity) != 0) continue;
    const schema::Comparison& of = changes.at(entry.api_version);
    entry.subtract(of.modified);
    entry.subtract(of.added);
    entry.subtract(of.removed);
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
  if (!check_fits_others(before_) || !check_fits_others(request.updated)) {
    Json object = schema::without_managed(request.updated);
    schema::as_written(*own_.merge, object);
    return object;
  }
  request.live = &before_;
  const std::string subresource = request.subresource;
  KW_ASSIGN(Json tracked, schema::track_update(request));
  if (entries_of(tracked) == nullptr) return tracked;  // it does not fit its own version
  give_back(changes(subresource, tracked), tracked);
  return tracked;
}

// Its entry stays among those of `own_`, for its time, and owns nothing there yet.
void VersionOwners::take_former(const schema::ApplyRequest& request) {
  const auto at = others_.find(identity_of(request));
  if (at == others_.end()) return;
  former_ = std::move(at->second);
  others_.erase(at);
  Json entry = entry_of(former_.manager, own_.type.gvk.api_version(), Json::object());
  if (!former_.time.empty()) entry["time"] = former_.time;
  if (!former_.subresource.empty()) entry["subresource"] = former_.subresource;
  before_["metadata"]["managedFields"].push_back(std::move(entry));
}

Json VersionOwners::pruned(const Json& merged, const schema::Managed& managed,
                           const schema::FieldSet& last) const {
  const bool moved = !former_.api_version.empty();
  const ResourcePtr former = moved ? version_of(former_.api_version) : nullptr;
  if (moved && !former) return merged;
  // Not asked then whether it fits the other versions.
  if (own_.custom && (moved ? former_.fields : last).empty()) return merged;
  const Resource& version = former ? *former : own_;
  return without_lost(version, converted(own_, version, merged), managed,
                      moved ? former_.fields : last);
}

// First all of it goes, then what is owned comes back version by version, and then what was not
// this manager's: a version may show what another cannot leave out.
Json VersionOwners::without_lost(const Resource& version, const Json& whole,
                                 const schema::Managed& managed,
                                 const schema::FieldSet& last) const {
  const schema::FieldSet mine = schema::with_named_parents(*version.merge, last);
  Json left = schema::remove_items(*version.merge, whole, mine);
  const auto add_back = [&](const Resource& owners_version, const schema::FieldSet& owned) {
    const Json all = converted(version, owners_version, whole);
    schema::FieldSet keep =
        members_of(owners_version, converted(version, owners_version, std::move(left)));
    keep.merge_in(schema::with_named_parents(*owners_version.merge, owned));
    const schema::FieldSet gone = members_of(owners_version, all).difference(keep);
    left =
        converted(owners_version, version, schema::remove_items(*owners_version.merge, all, gone));
  };
  std::map<std::string, schema::FieldSet> owned;
  for (const auto* owners : {&managed, &others_}) {
    for (const auto& [identity, entry] : *owners) owned[entry.api_version].merge_in(entry.fields);
  }
  // Its own version first, as the others may need what is owned there.
  add_back(version, owned[version.type.gvk.api_version()]);
  for (const auto& [api_version, fields] : owned) {
    const ResourcePtr other = version_of(api_version);
    if (other && other->type.gvk.version != version.type.gvk.version) add_back(*other, fields);
  }
  const schema::FieldSet lost =
      members_of(version, whole).difference(members_of(version, left)).intersect(mine);
  return converted(version, own_, schema::remove_items(*version.merge, whole, lost));
}

std::vector<schema::Conflict> VersionOwners::conflicts(Changes changes) const {
  for (auto& [version, of] : changes) of.modified.merge_in(of.added);
  std::vector<schema::Conflict> out;
  for (const auto& [identity, entry] : others_) {
    for (auto& path : entry.fields.intersect(changes.at(entry.api_version).modified).paths()) {
      out.push_back({entry.text(), std::move(path)});
    }
  }
  return out;
}

Result<schema::ApplyOutcome> VersionOwners::apply(schema::ApplyRequest request) {
  if (request.live == nullptr) return schema::apply(request);
  before_ = *request.live;
  take_from(before_);
  if (others_.empty()) return schema::apply(request);
  // What does not fit its own version is told first, by the apply.
  if (schema::check_for_merge(*own_.merge, request.applied)) {
    KW_TRY(check_fits_others(before_));
  }
  take_former(request);
  request.live = &before_;
  request.prune = [this](const Json& merged, const schema::Managed& managed,
                         const schema::FieldSet& last) {
    const auto merges = check_merged(merged, last);
    if (!merges) {
      unfit_ = merges.error();
      return merged;
    }
    Json left = pruned(merged, managed, last);
    if (const auto fits = check_fits_others(left); !fits) {
      unfit_ = internal_error("failed to convert new object: " + fits.error().message());
    }
    return left;
  };
  const bool force = std::exchange(request.force, true);
  KW_ASSIGN(schema::ApplyOutcome outcome, schema::apply(request));
  if (unfit_) return *unfit_;
  const Changes changed = changes(request.subresource, outcome.object);
  if (!force) {
    request.force = false;
    KW_ASSIGN(schema::ApplyOutcome refused, schema::apply(request));
    for (auto& one : conflicts(changed)) {
      // Written by every apply of kubectl's, besides what it applies.
      if (request.manager == "kubectl" && schema::is_last_applied(one.path)) continue;
      refused.conflicts.push_back(std::move(one));
    }
    std::stable_sort(refused.conflicts.begin(), refused.conflicts.end(),
                     [](const auto& a, const auto& b) { return a.manager_text < b.manager_text; });
    if (!refused.conflicts.empty()) return refused;
  }
  give_back(changed, outcome.object);
  return outcome;
}

}  // namespace kubewatch::apiserver
