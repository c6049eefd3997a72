// What the server keeps of a whole object, the root or an embedded one, whatever its schema says:
// apiVersion, kind and metadata, and of metadata what ObjectMeta has. There a schema only says what
// values are taken. What a change of a schema means is not here: schema_diff.hpp. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// `path` is where the schema stands: "" = the root.
bool is_whole_object(const Json& schema, const std::string& path);

// Whether a place is the metadata of a whole object, or in it.
enum class Meta { none, itself, below };
// Of a field of a place, which is a whole object or not.
Meta meta_of_field(Meta around, bool whole, const std::string& name);
// Of the items or values of a place.
Meta meta_inside(Meta around);

// Without being described.
bool is_kept_field(Meta around, bool whole, const std::string& name);
// What a field is that `schema` lacks and that is kept all the same; `other` is what another schema
// says of it. Null: it is not kept, or as what `schema` says of unknown fields.
Json kept_field(const Json& schema, Meta around, bool whole, const std::string& name,
                const Json& other);
// The same of items or values in metadata.
Json kept_inside(Meta around, const Json& other);

// What anything may be.
const Json& open_value();

}  // namespace kubewatch::crdgen
