// JSON patch (RFC 6902), JSON merge patch (RFC 7386) and strategic merge patch (by the merge
// schema), with the API server's limits. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

// What the server's decoder says of a list of operations that it cannot read; absent of one that it
// can, whatever the operations are. Precondition: an array.
std::optional<std::string> why_no_operations(const Json& operations);
// Errors: invalid (with the server's words; copy growth > 3 MiB; also what would be nested deeper
// than JSON may be that is read), too_large (more than 10,000 operations).
Result<Json> json_patch(const Json& target, const Json& operations);
Json merge_patch(Json target, const Json& patch);
// Errors: invalid (a directive of a wrong form), unsupported (all else), in the server's words.
// patchMergeKey lists merge by key; $patch: delete|replace, $retainKeys, $deleteFromPrimitiveList.
Result<Json> strategic_patch(Json target, const Json& patch, const MergeNodePtr& schema);
// Of all objects in it, also of those in lists; items of lists stay.
void drop_member_nulls(Json& value);

}  // namespace kubewatch::schema
