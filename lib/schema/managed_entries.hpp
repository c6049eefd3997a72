// metadata.managedFields as entries by identity: decoding, encoding, the cap on updaters. Who owns
// what after a write is decided in apply.cpp and update.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schema/field_set.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

struct ManagedEntry {
  std::string manager;
  bool applied = false;  // operation Apply, else Update
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339; "" when the entry has none
  FieldSet fields;
  // Where it was decoded from, as long as it still says the same; spares encoding. Borrowed.
  const Json* original = nullptr;

  void subtract(const FieldSet& taken) {
    if (fields.subtract(taken)) original = nullptr;
  }

  // Manager, operation, subresource and, for updates, apiVersion; sorts as the server sorts
  // managers.
  std::string identity() const;
  // As conflict messages name it.
  std::string text() const;
};
using Managed = std::map<std::string, ManagedEntry>;

// `managed_fields`: null pointer or null mean none; must outlive the result. Errors: invalid.
Result<Managed> decode_managed(const Json* managed_fields);
// Sorted by operation, time, manager, apiVersion, subresource; null when there are none.
Json encode_managed(const Managed& managed);
// object.metadata.managedFields, removed when there are none.
void set_managed(Json& object, const Managed& managed);
const Json* managed_fields_of(const Json& object);
// A copy without managedFields, which are often most of an object.
Json without_managed(const Json& object);
// reconcile_with_schema for all entries.
void reconcile_entries(const MergeNode& schema, Managed& managed);
// Whether two managedFields differ in nothing but times. Null pointers are none.
bool same_owners(const Json* a, const Json* b);

// Without what nobody owns: apiVersion, kind, metadata itself, name, namespace, uid, ...
void strip_identity_fields(FieldSet& fields);
// At most ten updaters: the oldest become "ancient-changes".
void cap_updaters(Managed& managed);
void drop_empty(Managed& managed);
// Of an entry that is written now; "" for a scale, whose entries the server gives no time.
std::string entry_time(const std::string& subresource, WallTime now);

}  // namespace kubewatch::schema
