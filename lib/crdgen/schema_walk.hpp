// Walks over the schemas inside an openAPIV3Schema as JSON, without taking defaults, examples or
// property names for schemas. Pure.
#pragma once

#include <functional>
#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// Each schema with its JSON pointer below the root, parents first; branches of allOf, anyOf,
// oneOf and not included. The visitor may change what it is given.
void walk_schemas(Json& schema, const std::function<void(Json& schema)>& visit);
void walk_schemas(const Json& schema, const std::string& pointer,
                  const std::function<void(const Json& schema, const std::string& pointer)>& visit);
// Only those that whatever stands there has to meet: nothing below anyOf, oneOf and not.
void walk_binding_schemas(
    const Json& schema, const std::string& pointer,
    const std::function<void(const Json& schema, const std::string& pointer)>& visit);

// Takes out what the server reads and does not store: false flags, empty texts, lists and maps, a
// default or example of null.
void drop_unstored(Json& schema);

}  // namespace kubewatch::crdgen
