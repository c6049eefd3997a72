#include "core/table.hpp"

#include <simdjson.h>

#include "base/json.hpp"
#include "core/json_path.hpp"
#include "core/wide_numbers.hpp"

namespace kubewatch::core {

namespace {

namespace dom = simdjson::dom;

std::string text_of(dom::element value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::string text_at(dom::object object, std::string_view key) {
  dom::element value;
  return object[key].get(value) == simdjson::SUCCESS ? text_of(value) : std::string();
}

std::string cell_of(dom::element value) {
  switch (value.type()) {
    case dom::element_type::STRING: return text_of(value);
    case dom::element_type::NULL_VALUE: return "";
    case dom::element_type::UINT64: return scalar_text(value.get_uint64().value_unsafe());
    case dom::element_type::DOUBLE: return scalar_text(value.get_double().value_unsafe());
    default: break;
  }
  return simdjson::minify(value);
}

Error wrong(const char* what) {
  return {ErrorKind::unavailable, std::string("the server's Table has ") + what};
}

void read_object(dom::object object, bool keep, TableRow& row) {
  if (keep) row.object = simdjson::minify(object);
  dom::object metadata;
  if (object["metadata"].get_object().get(metadata) != simdjson::SUCCESS) return;
  for (dom::key_value_pair field : metadata) {
    if (field.key == "name") row.key.name = text_of(field.value);
    if (field.key == "namespace") row.key.namespace_ = text_of(field.value);
    if (field.key == "uid") row.uid = text_of(field.value);
    if (field.key == "resourceVersion") row.resource_version = text_of(field.value);
    dom::object labels;
    if (field.key != "labels" || field.value.get_object().get(labels) != simdjson::SUCCESS) {
      continue;
    }
    for (dom::key_value_pair label : labels) {
      row.labels.emplace_back(label.key, text_of(label.value));
    }
  }
}

Result<void> read_rows(dom::array rows, bool keep, Table& out) {
  out.rows.reserve(rows.size());
  for (dom::element one : rows) {
    TableRow row;
    dom::object fields;
    dom::array cells;
    if (one.get_object().get(fields) != simdjson::SUCCESS ||
        fields["cells"].get_array().get(cells) != simdjson::SUCCESS) {
      return wrong("a row without cells");
    }
    row.cells.reserve(cells.size());
    for (dom::element cell : cells) row.cells.push_back(cell_of(cell));
    dom::object object;
    if (fields["object"].get_object().get(object) == simdjson::SUCCESS) {
      read_object(object, keep, row);
    }
    out.rows.push_back(std::move(row));
  }
  return {};
}

Result<void> read_columns(dom::array columns, Table& out) {
  for (dom::element one : columns) {
    dom::object fields;
    if (one.get_object().get(fields) != simdjson::SUCCESS) {
      return wrong("a column that is no object");
    }
    std::int64_t priority = 0;
    if (fields["priority"].get_int64().get(priority) != simdjson::SUCCESS) priority = 0;
    out.columns.push_back({text_at(fields, "name"), priority > 0 ? 1 : 0});
  }
  return {};
}

}  // namespace

std::string_view accept_table() {
  return "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
}

std::string_view table_query(TableObject include) {
  switch (include) {
    case TableObject::none: return "includeObject=None";
    case TableObject::metadata: return "includeObject=Metadata";
    case TableObject::whole: return "includeObject=Object";
  }
  return "";
}

Result<Table> parse_table(std::string_view json, bool keep_objects) {
  dom::parser parser;
  dom::element document;
  auto code = parser.parse(json.data(), json.size()).get(document);
  if (code != simdjson::SUCCESS) code = parser.parse(with_wide_numbers(json)).get(document);
  if (code != simdjson::SUCCESS) {
    return Error(ErrorKind::unavailable,
                 std::string("the server's Table is no JSON: ") + simdjson::error_message(code));
  }
  dom::object top;
  if (document.get_object().get(top) != simdjson::SUCCESS || text_at(top, "kind") != "Table") {
    return Error(ErrorKind::unsupported, "the server answered with something else than a Table");
  }
  Table out;
  dom::object metadata;
  if (top["metadata"].get_object().get(metadata) == simdjson::SUCCESS) {
    out.resource_version = text_at(metadata, "resourceVersion");
    out.continue_token = text_at(metadata, "continue");
  }
  dom::array columns;
  if (top["columnDefinitions"].get_array().get(columns) == simdjson::SUCCESS) {
    KW_TRY(read_columns(columns, out));
  }
  dom::array rows;
  if (top["rows"].get_array().get(rows) == simdjson::SUCCESS) {
    KW_TRY(read_rows(rows, keep_objects, out));
  }
  return out;
}

}  // namespace kubewatch::core
