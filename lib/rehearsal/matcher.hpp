// Whether a value has what a test case expects of it. Mappings may have more; list items with a
// name, a type or a key are found by it, those that share it each by what it has; other lists must
// be equal in length; null means that the field is not there. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::rehearsal {

struct Difference {
  std::string pointer;  // JSON pointer into the expected value
  std::string path;     // ".spec.replicas", for people
  std::string message;  // "expected 3, got 2"
};

// Empty: it matches.
std::vector<Difference> compare(const Json& expected, const Json& actual);

// One line of JSON, shortened.
std::string shown(const Json& value);

}  // namespace kubewatch::rehearsal
