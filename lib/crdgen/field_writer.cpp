// One OpenAPI schema as a field of a TypeDefinitions document.
#include <fmt/format.h>

#include <set>

#include "base/strings.hpp"
#include "crdgen/core_types.hpp"
#include "crdgen/import.hpp"
#include "crdgen/keywords.hpp"
#include "crdgen/schema_flag.hpp"
#include "crdgen/shorthand.hpp"
#include "crdgen/type_expander.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::size_t kShortText = 60;

using Notes = std::vector<std::string>;

// The name of a scalar and what of the schema it says.
std::string scalar_name(const Json& schema, std::set<std::string>& said) {
  const std::string type = base::string_at(schema, {"type"});
  const std::string format = base::string_at(schema, {"format"});
  if (type.empty()) {
    if (!flag(schema, kPreserve)) return "";
    said = {kPreserve};
    return "any";
  }
  if (type != "string" && type != "integer" && type != "number" && type != "boolean" &&
      type != "object") {
    return "";
  }
  said = {"type"};
  const bool named = (type == "integer" && (format == "int32" || format == "int64")) ||
                     (type == "number" && (format == "float" || format == "double"));
  if (named) said.insert("format");
  if (named) return format;
  if (type == "string" && format == "byte") {
    said.insert("format");
    return "bytes";
  }
  if (type == "string" && format == "date-time") {
    said.insert("format");
    return "Time";
  }
  return type;
}

bool is_text_of_type(const Json& field) {
  return field.is_string() && field.get_ref<const std::string&>().find(" | ") == std::string::npos;
}

// The inner field of a list or map as a prefix, or as `items` and `values`.
void write_inner(const Json& inner, const std::string& prefix, const std::string& key, Json& out) {
  if (is_text_of_type(inner)) {
    out["type"] = prefix + inner.get<std::string>();
  } else {
    out[key] = inner;
  }
}

bool fits_in_line(const Json& value) {
  if (value.is_object()) return value.empty();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text.size() <= kShortText && text.find('\n') == std::string::npos;
  }
  return base::dump_json(value).size() <= kShortText;
}

// A text where all fits into a line, else the long form.
Json shortened(Json field) {
  if (!field.contains("type")) return field;
  std::string text = field["type"].get<std::string>();
  std::string markers;
  if (field.contains("required")) markers += " required";
  for (const auto& [key, value] : field.items()) {
    if (key == "type" || key == "required") continue;
    if (key == "raw" || key == "validations" || !fits_in_line(value)) return field;
    markers += " " + key + (value == true ? "" : "=" + marker_value(value));
  }
  if (markers.size() > 2 * kShortText) return field;
  return markers.empty() ? text : text + " |" + markers;
}

// Whether the field, read again, is the schema.
bool reads_back(const Json& field, const Json& schema, bool required) {
  std::vector<Remark> problems;
  std::vector<Remark> notes;
  const Source source{"", "", {}, problems, notes};
  TypeExpander types;
  const auto read = types.expand(Node(source, field));
  return problems.empty() && read.schema == schema && read.required == required;
}

// What stands in the schema, by keys of the long form; `said` is what the type says already.
Json write_keywords(const Json& schema, std::set<std::string> said, Json out, Notes& notes,
                    const std::string& path) {
  Json raw = Json::object();
  for (const auto& [key, value] : schema.items()) {
    if (said.count(key) != 0) continue;
    if (const Keyword* keyword = find_by_schema_key(key);
        keyword != nullptr && check_value(*keyword, value).empty()) {
      out[std::string(keyword->name)] = value;
    } else if (key == "x-kubernetes-validations" && value.is_array() && !value.empty()) {
      out["validations"] = value;
    } else {
      raw[key] = value;
    }
  }
  if (raw.empty()) return out;
  std::vector<std::string> keys;
  for (const auto& [key, value] : raw.items()) keys.push_back(key);
  notes.push_back(fmt::format("{}: kept as raw OpenAPI: {}", path, base::join(keys, ", ")));
  out["raw"] = std::move(raw);
  return out;
}

Json candidate_of(const Json& schema, const std::string& path, Notes& notes) {
  const std::string type = base::string_at(schema, {"type"});
  Json out = Json::object();
  std::set<std::string> said;
  Json bare = schema;
  for (const char* key : {"description", "default", "nullable", "title", "example"})
    bare.erase(key);
  if (const std::string core = core_type_of(bare); !core.empty()) {
    out["type"] = core;
    for (const auto& [key, value] : bare.items()) said.insert(key);
  } else if (type == "array" && schema.contains("items") && schema["items"].is_object()) {
    write_inner(field_of_schema(schema["items"], false, path + "[]", notes), "[]", "items", out);
    said = {"type", "items"};
  } else if (type == "object" && schema.contains("additionalProperties") &&
             schema["additionalProperties"].is_object()) {
    write_inner(field_of_schema(schema["additionalProperties"], false, path + "{}", notes),
                "map[string]", "values", out);
    said = {"type", "additionalProperties"};
  } else if (type == "object" && schema.contains("properties") &&
             schema["properties"].is_object() && !schema["properties"].empty()) {
    std::set<std::string> required;
    for (const Json& name : schema.value("required", Json::array())) {
      if (name.is_string()) required.insert(name.get<std::string>());
    }
    for (const auto& [name, property] : schema["properties"].items()) {
      out["fields"][name] =
          field_of_schema(property, required.count(name) != 0, path + "." + name, notes);
    }
    said = {"type", "properties", "required"};
  } else if (const std::string name = scalar_name(schema, said); !name.empty()) {
    out["type"] = name;
  }
  return write_keywords(schema, said, std::move(out), notes, path);
}

}  // namespace

Json field_of_schema(const Json& schema, bool required, const std::string& path, Notes& notes) {
  Notes inner;
  if (schema.is_object()) {
    Json field = candidate_of(schema, path, inner);
    if (required) field["required"] = true;
    Json text = shortened(field);
    for (Json* form : {&text, &field}) {
      if (!reads_back(*form, schema, required)) continue;
      notes.insert(notes.end(), inner.begin(), inner.end());
      return std::move(*form);
    }
  }
  notes.push_back(path + ": kept as raw OpenAPI as a whole");
  Json raw = {{"raw", schema}};
  if (required) raw["required"] = true;
  return raw;
}

}  // namespace kubewatch::crdgen
