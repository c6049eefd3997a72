// What kube-apiserver demands of the objects of its own kinds beyond types and metadata: parts that
// must be there, ranges, names, what may not change. In its words and its order. Pure; it never
// throws, whatever the JSON is. Not defaults, which come before, and not custom kinds (schema/).
#pragma once

#include <string>

#include "base/json.hpp"
#include "schema/field_error.hpp"

namespace kubewatch::builtin {

// `storage_id` as in apiserver/resource.hpp. `live` is null for a create. Kinds that are not known
// here have no rules.
void validate(const std::string& storage_id, const Json* live, const Json& object,
              const std::string& subresource, schema::FieldErrors& errors);

}  // namespace kubewatch::builtin
