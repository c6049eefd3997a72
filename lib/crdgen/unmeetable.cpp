#include "crdgen/unmeetable.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "base/document_words.hpp"
#include "base/strings.hpp"
#include "crdgen/schema_flag.hpp"
#include "crdgen/schema_walk.hpp"
#include "schema/number_range.hpp"

namespace kubewatch::crdgen {

namespace {

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type != "integer" || value.is_number_integer()) return true;
  return value.is_number_float() && std::trunc(value.get<double>()) == value;
}

const Json* number_at(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && it->is_number() ? &*it : nullptr;
}

using Found = std::vector<Unmeetable>;

void look_at_enum(const Json& schema, const std::string& pointer, Found& out) {
  const std::string type = base::string_at(schema, {"type"});
  const auto values = schema.find("enum");
  if (values == schema.end() || !values->is_array()) return;
  for (const Json& one : *values) {
    if (is_of_type(one, type) || (one.is_null() && flag(schema, "nullable"))) continue;
    const std::string shown = base::shortened(base::dump_json(one), 80);
    out.push_back(
        {"enum-type", pointer, fmt::format("enum lists {}, which is no {}", shown, type),
         type == "string" ? "quote it: YAML reads it as another type" : "correct or remove it"});
  }
}

void look_at_limits(const Json& schema, const std::string& pointer, Found& out) {
  const bool open = flag(schema, "exclusiveMinimum") || flag(schema, "exclusiveMaximum");
  for (const auto& [least, most] : {std::pair("minLength", "maxLength"),
                                    {"minItems", "maxItems"},
                                    {"minProperties", "maxProperties"},
                                    {"minimum", "maximum"}}) {
    const Json* low = number_at(schema, least);
    const Json* high = number_at(schema, most);
    if (low == nullptr || high == nullptr || *low < *high) continue;
    if (*low == *high && !(open && least == std::string_view("minimum"))) continue;
    out.push_back({"limits", pointer,
                   fmt::format("no value fits {}={} and {}={}", least, base::dump_json(*low), most,
                               base::dump_json(*high)),
                   "correct one of them"});
  }
}

// The server takes such a bound for wrong whenever it looks at a number, whatever the number is.
void look_at_range(const Json& schema, const std::string& pointer, Found& out) {
  const std::string type = base::string_at(schema, {"type"});
  const std::string format = base::string_at(schema, {"format"});
  for (const char* key : {"minimum", "maximum", "multipleOf"}) {
    const Json* bound = number_at(schema, key);
    if (bound == nullptr || schema::in_number_range(bound->get<double>(), type, format)) continue;
    const bool narrow =
        format == "int32" && schema::in_number_range(bound->get<double>(), type, "int64");
    const bool ranged = format == "int32" || format == "float";
    out.push_back({"limits", pointer,
                   fmt::format("{}={} is no {}: the server refuses every number", key,
                               base::dump_json(*bound), ranged ? format : type),
                   narrow ? "say int64, or correct it" : "correct it"});
  }
}

}  // namespace

std::vector<Unmeetable> unmeetable_in(const Json& root, const std::string& pointer) {
  Found out;
  walk_binding_schemas(root, pointer, [&out](const Json& schema, const std::string& at) {
    look_at_enum(schema, at, out);
    look_at_limits(schema, at, out);
    look_at_range(schema, at, out);
  });
  return out;
}

}  // namespace kubewatch::crdgen
