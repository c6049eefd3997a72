// A list or an object as the API server tables it (meta.k8s.io/v1 Table): cells as text, and what
// identifies each row's object. Read with simdjson: lists are long. No I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::core {

struct TableColumn {
  std::string name;  // "Restarts"
  int priority = 0;  // above 0: only in wide tables
};

struct TableRow {
  std::vector<std::string> cells;  // as printed: "" for null
  // Of the row's object; empty where the server was told to leave it out.
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::vector<std::pair<std::string, std::string>> labels;
  std::string object;  // its JSON; only where asked for
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::string resource_version;
  std::string continue_token;
};

// How much of a row's object the server sends: `includeObject`.
enum class TableObject { none, metadata, whole };

// "application/json;as=Table;v=v1;g=meta.k8s.io,application/json": a server that has no tables
// answers with objects.
std::string_view accept_table();
// The query parameter that goes with it: "includeObject=Metadata".
std::string_view table_query(TableObject include);

// Of a list's answer, or of one event's object in a watch (there columns come with the first event
// alone). `keep_objects`: rows keep their object's JSON. Errors: unavailable (no JSON, a shape that
// is none), unsupported (JSON of another kind: the server made no table).
Result<Table> parse_table(std::string_view json, bool keep_objects = false);

}  // namespace kubewatch::core
