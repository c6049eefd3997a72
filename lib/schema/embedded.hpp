// Embedded resources (x-kubernetes-embedded-resource): objects inside objects, whose apiVersion,
// kind and metadata are read and checked as those of any object. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_error.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

// Reads metadata into ObjectMeta: unknown fields go (their paths are added), so do empty ones.
// Errors: a field of the wrong type. `root`: the value itself is one, whatever the schema says.
std::optional<FieldError> coerce_embedded(Json& value, const Structural& schema, bool root,
                                          const std::string& base, ToldPaths& unknown);
// apiVersion and kind are there, metadata is valid.
void check_embedded(const Json& value, const Structural& schema, bool root, const std::string& base,
                    FieldErrors& errors);

// An item of `list`, ownerReferences or managedFields, read as its type: nulls go, and so does what
// the type lacks, whose paths below `place` are added. "" or what does not fit, as Go's decoder
// says it; `around` is where it counts the field from: "", "metadata.".
std::string read_meta_item(const std::string& list, const std::string& around, Json& item,
                           const ValuePlace& place, ToldPaths& unknown);

// A name by the rules of RFC 1035: "" or the server's sentence.
std::string check_dns1035_label(const std::string& name);

}  // namespace kubewatch::schema
