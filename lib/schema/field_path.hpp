// The simple JSON paths of fieldPath and selectableFields (".spec.x['a.b']"), followed through a
// schema. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "schema/structural.hpp"

namespace kubewatch::schema {

struct FoundField {
  std::string path;  // "spec.x[a.b]", as in field errors
  std::string root;  // "spec"
  const Structural* schema = nullptr;
};

// Errors: invalid, in the server's words ("does not refer to a valid field").
Result<FoundField> find_field(std::string_view path, const Structural& schema, bool allow_brackets);

}  // namespace kubewatch::schema
