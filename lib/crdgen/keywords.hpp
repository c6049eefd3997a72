// The words that may stand after "|" or as keys of a field, and what they are in OpenAPI. One
// table for reading (type_expander), for writing (import) and for the reference page. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

struct Keyword {
  enum class Want { number, size, flag, text, texts, list, mapping, any };
  std::string_view name;        // ours
  std::string_view schema_key;  // OpenAPI's
  Want want;
  std::string_view types;  // schema types that it applies to, "" for all; "string array"
  std::string_view help;
};

const std::vector<Keyword>& keywords();
const Keyword* find_keyword(std::string_view name);
const Keyword* find_by_schema_key(std::string_view key);

// "" when the value is what the keyword wants, else what is wrong with it.
std::string check_value(const Keyword& keyword, const Json& value);
// Whether the keyword applies to what the schema is; schemas without a type take all.
bool applies_to(const Keyword& keyword, const Json& schema);

}  // namespace kubewatch::crdgen
