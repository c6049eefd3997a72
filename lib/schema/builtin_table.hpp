// Definitions of the built-in table by their short name, for schemas that refer to them.
#pragma once

#include <string>

#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

// "meta.v1.ObjectMeta", "core.v1.PodTemplateSpec"; null when the table lacks it. Lives as long as
// the program.
MergeNodePtr builtin_definition(const std::string& name);

}  // namespace kubewatch::schema
