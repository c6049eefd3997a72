// A CustomResourceDefinition back to a TypeDefinitions document: what the shorthand covers in
// shorthand, anything else as a `raw` block with a note. generate() of the document gives the CRD
// again, which is checked while it is made. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::crdgen {

struct Imported {
  Json document;
  std::vector<std::string> notes;  // "spec.versions[v1].spec.port: kept as raw OpenAPI: ..."
};

// Errors: invalid, when this is no CRD of apiextensions.k8s.io/v1.
Result<Imported> import_crd(const Json& crd);

// One schema as a field of the long form or a text; `required` as the parent says it.
Json field_of_schema(const Json& schema, bool required, const std::string& path,
                     std::vector<std::string>& notes);

// YAML with the keys in the order in which people write them.
std::string types_yaml(const Json& document);

// What must be true of anything that is called a CRD here: kind, group, names.kind, versions.
Result<void> check_is_crd(const Json& value);
// For who reads all of it: a CRD in which each value has the JSON type that the server wants, and
// without the nulls that the server reads as absent. Errors: invalid, naming the value.
Result<Json> readable_crd(const Json& value);

}  // namespace kubewatch::crdgen
