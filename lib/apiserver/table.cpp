#include "apiserver/table.hpp"

#include "apiserver/printers.hpp"
#include "core/json_path.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kNameHelp[] = "The name of the object, unique among its kind and namespace.";

Json definition(const std::string& name, const std::string& type, const std::string& format,
                const std::string& description, int priority) {
  return {{"name", name},
          {"type", type},
          {"format", format},
          {"description", description},
          {"priority", priority}};
}

const std::vector<PrinterColumn>& custom_columns(const Resource& resource) {
  static const std::vector<PrinterColumn> kAgeOnly = {
      {"Age", "date", "", "Time since the object was created.", ".metadata.creationTimestamp", 0}};
  const auto& columns = resource.custom->columns;
  return columns.empty() ? kAgeOnly : columns;
}

// One additionalPrinterColumn: null when the path finds nothing or something of another type.
Json custom_cell(const PrinterColumn& column, const Json& object, WallTime now) {
  const auto found = core::find_at(object, column.json_path);
  if (found.empty()) return nullptr;
  const Json& value = *found[0];
  if (column.type == "date") {
    return value.is_string() ? Json(age_of(value.get<std::string>(), now)) : Json("<invalid>");
  }
  if (column.type == "integer") return value.is_number() ? Json(value.get<std::int64_t>()) : Json();
  if (column.type == "number") return value.is_number() ? value : Json();
  if (column.type == "boolean") return value.is_boolean() ? value : Json();
  std::string text;
  for (const Json* one : found) {
    if (!text.empty()) text += ' ';
    text += one->is_string() ? one->get<std::string>() : base::dump_json(*one);
  }
  return text;
}

}  // namespace

Json table_columns(const Resource& resource) {
  Json out = Json::array();
  if (resource.custom) {
    out.push_back(definition("Name", "string", "name", kNameHelp, 0));
    for (const auto& column : custom_columns(resource)) {
      const std::string help =
          column.description.empty()
              ? "Custom resource definition column (in JSONPath format): " + column.json_path
              : column.description;
      out.push_back(definition(column.name, column.type, column.format, help, column.priority));
    }
    return out;
  }
  if (const auto* columns = builtin_columns(resource.storage_id)) {
    for (const auto& column : *columns) {
      const bool name = std::string_view(column.name) == "Name";
      out.push_back(definition(column.name, column.type, name ? "name" : "", name ? kNameHelp : "",
                               column.priority));
    }
    return out;
  }
  out.push_back(definition("Name", "string", "name", kNameHelp, 0));
  out.push_back(definition("Created At", "date", "", "When the object was created.", 0));
  return out;
}

Json table_cells(const Resource& resource, const Json& served, WallTime now) {
  Json cells = Json::array();
  if (resource.custom) {
    cells.push_back(base::string_at(served, {"metadata", "name"}));
    for (const auto& column : custom_columns(resource)) {
      cells.push_back(custom_cell(column, served, now));
    }
    return cells;
  }
  if (const auto* columns = builtin_columns(resource.storage_id)) {
    for (const auto& column : *columns) cells.push_back(column.make(served, now));
    return cells;
  }
  cells.push_back(base::string_at(served, {"metadata", "name"}));
  const std::string created = base::string_at(served, {"metadata", "creationTimestamp"});
  cells.push_back(created.empty() ? Json() : Json(created));
  return cells;
}

}  // namespace kubewatch::apiserver
