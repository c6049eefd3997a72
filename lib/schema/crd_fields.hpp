// The fields that a CustomResourceDefinition says and apiextensions v1 lacks, from the server's own
// table of its kinds. The server refuses most of them where they are applied or created strictly,
// and drops the others, those of `items` and `additionalProperties`, without a word. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

struct UnknownField {
  std::vector<std::string> steps;          // from the value to it: keys, and indexes of lists
  const MergeNode* in = nullptr;           // the type that lacks it; lives as long as the program
  std::vector<std::string> known() const;  // what may stand there
};

// The first `most` in the order of the value. What is in a status is not looked at.
std::vector<UnknownField> unknown_crd_fields(const Json& crd, std::size_t most);
// The same of an openAPIV3Schema, or of a part of one.
std::vector<UnknownField> unknown_schema_fields(const Json& schema, std::size_t most);

}  // namespace kubewatch::schema
