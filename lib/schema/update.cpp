// Who owns what after an update, create or patch that is not an apply.
#include "base/json.hpp"
#include "schema/managed_entries.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

// [] and [{}] mean: forget all owners.
bool is_reset(const Json* managed_fields) {
  if (managed_fields == nullptr || !managed_fields->is_array()) return false;
  if (managed_fields->empty()) return true;
  return managed_fields->size() == 1 && (*managed_fields)[0].is_object() &&
         (*managed_fields)[0].empty();
}

Managed decode_or_none(const Json* managed_fields) {
  Result<Managed> decoded = decode_managed(managed_fields);
  return decoded.ok() ? std::move(*decoded) : Managed();
}

// The owners before this write: those of the request, so that clients may edit them; else those of
// live.
Managed owners_before(const UpdateRequest& request) {
  const Json* sent = managed_fields_of(request.updated);
  if (request.subresource.empty()) {
    if (is_reset(sent)) return {};
    Managed managed = decode_or_none(sent);
    if (!managed.empty()) return managed;
  }
  return request.live == nullptr ? Managed() : decode_or_none(managed_fields_of(*request.live));
}

ManagedEntry new_entry(const UpdateRequest& request) {
  ManagedEntry entry;
  entry.manager = request.manager.empty() ? "unknown" : request.manager;
  entry.api_version = base::string_at(request.updated, {"apiVersion"});
  entry.subresource = request.subresource;
  return entry;
}

void take_ownership(const UpdateRequest& request, const MergeNode& schema, const Json& after,
                    Managed& managed) {
  static const Json kNothing = Json::object();
  const Json* before = request.live == nullptr ? request.nothing : request.live;
  Comparison changes = compare(schema, before == nullptr ? kNothing : *before, after);
  changes.exclude(request.ignored);
  FieldSet taken = std::move(changes.modified);
  taken.merge_in(changes.added);
  reconcile_entries(schema, managed);
  for (auto& [identity, entry] : managed) {
    entry.subtract(taken);
    entry.subtract(changes.removed);
  }
  strip_identity_fields(taken);
  if (!taken.empty()) {
    ManagedEntry entry = new_entry(request);
    ManagedEntry& own = managed.try_emplace(entry.identity(), entry).first->second;
    own.fields.merge_in(taken);
    own.time = entry_time(request.subresource, request.now);
    own.original = nullptr;
  }
  drop_empty(managed);
}

}  // namespace

Result<Json> track_update(const UpdateRequest& request) {
  Managed managed = owners_before(request);
  Json object = without_managed(request.updated);
  const MergeNode& schema = request.schema ? *request.schema : deduced_node();
  as_written(schema, object);
  // Owners that were forgotten stay forgotten until somebody applies.
  if (managed.empty() && request.live != nullptr) return object;
  // A value that does not fit its schema cannot be tracked; refusing it is the validation's
  // business.
  if (!check_value(schema, object, true).ok()) return object;
  take_ownership(request, schema, object, managed);
  cap_updaters(managed);
  set_managed(object, managed);
  return object;
}

bool keep_times_of_noop(const Json& live, Json& updated) {
  if (live == updated) return true;
  const Json* before = managed_fields_of(live);
  Json* after = base::find(updated, {"metadata", "managedFields"});
  if (before == nullptr || after == nullptr || !same_owners(before, after)) return false;
  Json timed = std::exchange(*after, *before);
  if (live == updated) return true;
  *after = std::move(timed);
  return false;
}

}  // namespace kubewatch::schema
