// Rules that count which fields of an object are set: how exactlyOneOf and the like are written as
// CEL, and how such a rule is known again. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

struct FieldCount {
  enum class Kind { exactly_one, at_most_one, at_least_one } kind = Kind::exactly_one;
  std::vector<std::string> fields;  // as CEL names them
};

std::string rule_of(const FieldCount& count);
// Of a rule that is written so, or as controller-gen writes its own; absent for others. The fields
// are those of `properties`, with their own names.
std::optional<FieldCount> field_count_of(const std::string& rule, const Json& properties);

}  // namespace kubewatch::crdgen
