// Embedded resources (x-kubernetes-embedded-resource): objects inside objects, whose apiVersion,
// kind and metadata are read and checked as those of any object. Which fields metadata has:
// object_meta.hpp. Pure.
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

// A name by the rules of RFC 1035: "" or the server's sentence.
std::string check_dns1035_label(const std::string& name);

}  // namespace kubewatch::schema
