// What a schema says that no value can meet, and the server takes all the same: values listed in an
// enum that the type refuses, lower limits above the upper ones, and limits that the number's
// format cannot hold. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

struct Unmeetable {
  std::string id;       // of lint: "enum-type" or "limits"
  std::string pointer;  // of the schema that says it
  std::string message;
  std::string fix;
};

// Of the schema and all in it, parents first; `pointer` is where it stands. Not of what is below
// not, anyOf and oneOf, which a value need not meet.
std::vector<Unmeetable> unmeetable_in(const Json& root, const std::string& pointer);

}  // namespace kubewatch::crdgen
