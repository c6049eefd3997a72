// How OpenAPI documents refer to types, and our words for those that every kind shares: ObjectMeta,
// ListMeta, Scale, Status. Not what the types hold: that is openapi_builtin. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::apiserver {

// Which kinds a schema or an operation is of; that a schema keeps fields that it does not name.
inline constexpr const char* kKindsOf = "x-kubernetes-group-version-kind";
inline constexpr const char* kKeepsUnknown = "x-kubernetes-preserve-unknown-fields";

// "#/components/schemas/" and the name.
std::string reference_to(const std::string& name);
// What documents call a shared type: "ObjectMeta", "ListMeta", "Scale", "Status", "Patch" and other
// types of meta/v1.
std::string shared_type_name(const std::string& type);
// Whatever refers to another schema: what a property or a list's item that has its own words says.
Json reference_schema(const std::string& reference, const std::string& description = "");
// apiVersion and kind, as every kind has them.
void add_type_properties(Json& properties);
// Says what the shared types among the schemas and their fields are, and apiVersion and kind of
// all.
void describe_types(Json& schemas);

}  // namespace kubewatch::apiserver
