// What a schema does to the shape of an object: unknown fields, nulls, defaults, and the keys of
// sets and keyed lists. Pure. compiled_schema.hpp puts it to use.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/field_error.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

// `root`: the value is a whole object, whose apiVersion, kind and metadata always stay (as those of
// embedded resources). Returns what was removed, as many paths as can be told, sorted.
std::vector<std::string> prune(Json& value, const Structural& schema, bool root);
// Nulls that are neither allowed nor replaced by a default.
void drop_nulls(Json& value, const Structural& schema);
// What defaults may add to one object: far more than is stored of any.
inline constexpr std::size_t kMostDefaults = 64U << 20U;  // bytes
// Where a key is absent, or null and not nullable. False: they are more than kMostDefaults, and the
// rest is left out.
bool apply_defaults(Json& value, const Structural& schema);

// Duplicates in sets and keyed lists.
void check_keyed_lists(const Json& object, const Structural& schema, FieldErrors& errors);

}  // namespace kubewatch::schema
