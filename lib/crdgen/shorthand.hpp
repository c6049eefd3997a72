// The text of a type in a TypeDefinitions document, "[]string | listType=set maxItems=16", to its
// parts and back. What the names mean is type_expander's business. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// "[]T", "map[string]T", "A or B", or a name.
struct TypeText {
  enum class Form { name, list, map, either } form = Form::name;
  std::string name;
  std::vector<TypeText> parts;  // the element of list and map; the alternatives of either
  std::size_t at = 0;           // bytes from the beginning of the text
};

// "name=value", or "name" alone, which is true.
struct Marker {
  std::string name;
  Json value = true;
  std::size_t at = 0;
};

struct FieldText {
  TypeText type;
  std::vector<Marker> markers;
};

using ReportAt = std::function<void(std::size_t offset, const std::string& message)>;

// Reports everything that is wrong with the text. False: something was.
bool parse_field_text(std::string_view text, FieldText& into, const ReportAt& report);

// A value as it can stand after "name=": bare where that reads back as the same value, else JSON.
std::string marker_value(const Json& value);

}  // namespace kubewatch::crdgen
