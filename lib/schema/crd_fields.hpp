// The fields that a CustomResourceDefinition says and apiextensions v1 lacks, from the server's own
// table of its kinds. The server refuses most of them where they are applied or created strictly,
// and drops the others, those of `items` and `additionalProperties`, without a word. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::schema {

struct UnknownField {
  std::vector<std::string> steps;  // from the value to it: keys, and indexes of lists
  std::vector<std::string> known;  // what may stand there
};

// In the order of the value; the first hundred. What is in a status is not looked at.
std::vector<UnknownField> unknown_crd_fields(const Json& crd);
// The same of an openAPIV3Schema, or of a part of one.
std::vector<UnknownField> unknown_schema_fields(const Json& schema);

}  // namespace kubewatch::schema
