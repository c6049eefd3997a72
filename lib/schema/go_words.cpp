#include "schema/go_words.hpp"

#include "base/json.hpp"

namespace kubewatch::schema {

std::string json_word(const Json& value) {
  if (value.is_number()) return "number";
  return value.is_boolean() ? "bool" : value.type_name();
}

std::string go_text(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return base::dump_json(value);
  std::string out = value.is_object() ? "map[" : "[";
  const char* between = "";
  for (const auto& [key, below] : value.items()) {
    out += between;
    if (value.is_object()) out += key + ":";
    out += go_text(below);
    between = " ";
  }
  return out + "]";
}

}  // namespace kubewatch::schema
