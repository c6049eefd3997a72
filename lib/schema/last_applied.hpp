// What server-side apply by manager "kubectl" does with the annotation of kubectl's client-side
// apply.
#pragma once

#include "base/json.hpp"
#include "schema/managed_fields.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

// The fields that client-side apply had set and that still have its value: no conflict is on them.
FieldSet fields_of_client_side_apply(const MergeNode& schema, const Json& live);

// Writes what was applied into the annotation, if the object has one.
void sync_last_applied(const Json& applied, Json& object);
// Whether it is that annotation.
bool is_last_applied(const Path& path);

}  // namespace kubewatch::schema
