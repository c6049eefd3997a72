// The types that every kind shares, as OpenAPI documents show them: ObjectMeta, ListMeta, Scale,
// Status. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::apiserver {

// "#/components/schemas/" and the name that the type has in documents; of "ObjectMeta", "ListMeta",
// "Scale", "Status", "Patch".
std::string shared_type_reference(const std::string& type);
// Whatever refers to another schema: what a property or a list's item that has its own words says.
Json reference_schema(const std::string& reference, const std::string& description = "");
// The shared types and what they refer to, by their names; Scale only where asked for.
Json shared_type_schemas(bool with_scale);
// apiVersion and kind, as every kind has them.
void add_type_properties(Json& properties);

}  // namespace kubewatch::apiserver
