// Cells of the built-in kinds' table columns and of additionalPrinterColumns, as kube-apiserver
// makes them. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "core/json_path.hpp"

namespace kubewatch::apiserver {

using CellMaker = Json (*)(const Json& object, WallTime now);

struct BuiltinColumn {
  const char* name;
  const char* type;
  int priority;
  CellMaker make;
  const char* format = "";  // "name" of names
};

// By storage id; null for kinds that are not known here.
const std::vector<BuiltinColumn>* builtin_columns(const std::string& storage_id);
// Name and Created At: of kinds for which kube-apiserver has no printer.
const std::vector<BuiltinColumn>& created_columns();

// One cell of a CRD's additionalPrinterColumns: of the first value that the path finds, null where
// it finds none, fails, or finds what is not of the column's type. Follows the tableconvertor of
// apiextensions-apiserver.
Json custom_cell(const core::JsonPath& path, const std::string& type, const Json& object,
                 WallTime now);

// "5m", "<unknown>" of no time, "<invalid>" of one to come or of a text that is none.
std::string age_of(const std::string& timestamp, WallTime now);

}  // namespace kubewatch::apiserver
