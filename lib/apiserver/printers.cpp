#include "apiserver/printers.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "apiserver/printer_parts.hpp"

namespace kubewatch::apiserver {

namespace {

parts::ColumnTable make_table() {
  parts::ColumnTable t;
  parts::add_pods(t);
  parts::add_workloads(t);
  parts::add_network(t);
  parts::add_storage(t);
  parts::add_cluster(t);
  parts::add_policies(t);
  return t;
}

// As Go converts on amd64: what an int64 cannot hold is the smallest one.
std::int64_t whole(const Json& value) {
  if (value.is_number_integer() && !value.is_number_unsigned()) return value.get<std::int64_t>();
  const auto number = value.get<double>();
  const bool fits = number >= -0x1p63 && number < 0x1p63;
  if (!value.is_number_float() && fits) return value.get<std::int64_t>();
  return fits ? static_cast<std::int64_t>(number) : std::numeric_limits<std::int64_t>::min();
}

// Through a float64, which is written without a fraction where it has none.
Json number_cell(const Json& value) {
  const auto number = value.get<double>();
  const bool integer = std::floor(number) == number && number >= -0x1p63 && number < 0x1p63;
  return integer ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

}  // namespace

Json custom_cell(const core::JsonPath& path, const std::string& type, const Json& object,
                 WallTime now) {
  const auto found = path.evaluate(object);
  if (!found.ok() || found->empty()) return nullptr;
  const Json& value = *found->front();
  if (type == "string") return value.is_null() ? "<no value>" : core::scalar_text(value);
  if (type == "date" && value.is_string()) return age_of(value.get<std::string>(), now);
  if (type == "integer" && value.is_number()) return whole(value);
  if (type == "number" && value.is_number()) return number_cell(value);
  if (type == "boolean" && value.is_boolean()) return value;
  return nullptr;
}

std::string age_of(const std::string& timestamp, WallTime now) {
  static const auto kZero = base::parse_rfc3339("0001-01-01T00:00:00Z");
  if (timestamp.empty() || timestamp == "null") return "<unknown>";
  const auto at = base::parse_rfc3339(timestamp);
  if (!at) return "<invalid>";
  if (kZero && *at == *kZero) return "<unknown>";
  return base::format_age(std::chrono::duration_cast<std::chrono::seconds>(now - *at));
}

const std::vector<BuiltinColumn>& created_columns() {
  static const std::vector<BuiltinColumn> kColumns = {
      parts::kName, {"Created At", "date", 0, [](const Json& o, WallTime) -> Json {
                       const std::string at = base::string_at(o, {"metadata", "creationTimestamp"});
                       return at.empty() ? Json() : Json(at);
                     }}};
  return kColumns;
}

const std::vector<BuiltinColumn>* builtin_columns(const std::string& storage_id) {
  static const parts::ColumnTable table = make_table();
  const auto it = table.find(storage_id);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace kubewatch::apiserver
