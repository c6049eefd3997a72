#include "apiserver/table.hpp"

#include <fmt/format.h>

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

Json cell_of(const PrinterColumn& column, const Json& object, WallTime now) {
  const auto path = core::JsonPath::parse(column.json_path);
  return path.ok() ? custom_cell(*path, column.type, object, now) : Json();
}

const std::vector<BuiltinColumn>& columns_of(const Resource& builtin) {
  const auto* own = builtin_columns(builtin.storage_id);
  return own == nullptr ? created_columns() : *own;
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
  for (const auto& column : columns_of(resource)) {
    const bool name = std::string_view(column.name) == "Name";
    out.push_back(definition(column.name, column.type, name ? "name" : column.format,
                             name ? kNameHelp : "", column.priority));
  }
  return out;
}

Json table_cells(const Resource& resource, const Json& served, WallTime now) {
  Json cells = Json::array();
  if (resource.custom) {
    cells.push_back(base::string_at(served, {"metadata", "name"}));
    for (const auto& column : custom_columns(resource)) {
      cells.push_back(cell_of(column, served, now));
    }
    return cells;
  }
  for (const auto& column : columns_of(resource)) cells.push_back(column.make(served, now));
  // The server has an age here that no column tells of.
  if (resource.storage_id == "ipaddresses.networking.k8s.io") {
    cells.push_back(age_of(base::string_at(served, {"metadata", "creationTimestamp"}), now));
  }
  return cells;
}

std::string pod_row_conditions(std::string_view phase) {
  std::string_view said;
  if (phase == "Failed") said = "The pod failed.";
  if (phase == "Succeeded") said = "The pod has completed successfully.";
  if (said.empty()) return "";
  return fmt::format(
      R"("conditions":[{{"type":"Completed","status":"True","reason":"{}","message":"{}"}}],)",
      phase, said);
}

}  // namespace kubewatch::apiserver
