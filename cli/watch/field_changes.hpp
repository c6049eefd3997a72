// What differs between two states of an object, field by field, with the old and the new value: for
// `watch --diff`. Lists of named items are compared item by item, whatever their order. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::cli::watch {

// A key of an object, or a place in a list of the state that has the field.
using FieldStep = std::variant<std::string, std::size_t>;

struct FieldChange {
  std::string path;              // ".spec.containers[name=web].image"
  std::vector<FieldStep> steps;  // the same in `after`, of what is gone in `before`
  std::optional<Json> before;    // absent: the field is new
  std::optional<Json> after;     // absent: it is gone
};

// A change is told at most this often; then one more says "..." and nothing else.
inline constexpr std::size_t kMostFieldChanges = 1000;

// In the order of their paths, without what the server counts and keeps for itself
// (resourceVersion, generation, managedFields).
std::vector<FieldChange> field_changes(const Json& before, const Json& after);

}  // namespace kubewatch::cli::watch
