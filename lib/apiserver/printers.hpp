// Cells of the built-in kinds' table columns, and how values are shown in them. Pure.
#pragma once

#include <string>
#include <vector>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

using CellMaker = Json (*)(const Json& object, WallTime now);

struct BuiltinColumn {
  const char* name;
  const char* type;
  int priority;
  CellMaker make;
};

// By storage id; null when the kind has none of its own and gets Name and Created At.
const std::vector<BuiltinColumn>* builtin_columns(const std::string& storage_id);

// "5m", "<unknown>" of an RFC 3339 text, "<invalid>" when it is none.
std::string age_of(const std::string& timestamp, WallTime now);

}  // namespace kubewatch::apiserver
