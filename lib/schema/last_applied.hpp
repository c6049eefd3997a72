// What server-side apply by manager "kubectl" does with the annotation of kubectl's client-side
// apply.
#pragma once

#include <vector>

#include "base/json.hpp"
#include "schema/managed_fields.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

// Drops all conflicts when each is on a field that client-side apply had set and that still has its
// value; else only those on such fields.
void drop_conflicts_of_client_side_apply(const MergeNode& schema, const Json& live,
                                         std::vector<Conflict>& conflicts);

// Writes what was applied into the annotation, if the object has one.
void sync_last_applied(const Json& applied, Json& object);
// Whether it is that annotation.
bool is_last_applied(const Path& path);

}  // namespace kubewatch::schema
