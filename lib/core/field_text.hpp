// The place of a field as the API server writes it in conflicts of field managers, read in an
// object: `.spec.containers[name="web"].image`. Keys are written as they are, dots and brackets of
// their own included, so that only an object tells how such a text is cut, and not always: with the
// keys `b` and `b.c`, `.data.b.c` may be either. Source: PathElement.String of
// structured-merge-diff (fieldpath), which the server prints. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::core {

// One way to cut it. Views and pointers are of the text and of the object.
struct FieldReading {
  std::vector<std::string_view> steps;  // `.spec`, `[name="web"]`, `[="item"]`, `[0]`
  std::string_view rest;                // behind them: of a list's item that the object lacks
  const Json* value = nullptr;          // what is there; null with a rest
};

// All, at most 32; none where the object has no such place.
std::vector<FieldReading> readings_of(const Json& object, std::string_view field);

// What is there by the first of them. Null when nothing is.
const Json* value_at_field(const Json& object, std::string_view field);

}  // namespace kubewatch::core
