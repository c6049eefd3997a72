#include "crdgen/keywords.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "crdgen/node.hpp"
#include "schema/crd_fields.hpp"
#include "schema/structural.hpp"

namespace kubewatch::crdgen {

const std::vector<Keyword>& keywords() {
  using Want = Keyword::Want;
  static const std::vector<Keyword> all = {
      {"default", "default", Want::any, "", "what the server puts where the field is absent"},
      {"description", "description", Want::text, "", "shown by kubectl explain"},
      {"title", "title", Want::text, "", "a short heading"},
      {"example", "example", Want::any, "", "an example value"},
      {"externalDocs", "externalDocs", Want::mapping, "", "{url, description} of a page"},
      {"nullable", "nullable", Want::flag, "", "null is kept and allowed"},
      {"enum", "enum", Want::list, "", "the only values allowed: [a, b]"},
      {"format", "format", Want::text, "", "of strings and numbers: date-time, uuid, int32"},
      {"minimum", "minimum", Want::number, "integer number", "the smallest value"},
      {"maximum", "maximum", Want::number, "integer number", "the largest value"},
      {"exclusiveMinimum", "exclusiveMinimum", Want::flag, "integer number",
       "minimum itself is refused"},
      {"exclusiveMaximum", "exclusiveMaximum", Want::flag, "integer number",
       "maximum itself is refused"},
      {"multipleOf", "multipleOf", Want::number, "integer number", "a multiple of this"},
      {"minLength", "minLength", Want::size, "string", "characters at least"},
      {"maxLength", "maxLength", Want::size, "string", "characters at most"},
      {"pattern", "pattern", Want::text, "string", "an RE2 expression that must match"},
      {"minItems", "minItems", Want::size, "array", "items at least"},
      {"maxItems", "maxItems", Want::size, "array", "items at most"},
      {"uniqueItems", "uniqueItems", Want::flag, "array", "false only; listType=set does it"},
      {"minProperties", "minProperties", Want::size, "object", "keys at least"},
      {"maxProperties", "maxProperties", Want::size, "object", "keys at most"},
      {"listType", "x-kubernetes-list-type", Want::text, "array", "atomic, set or map"},
      {"listMapKeys", "x-kubernetes-list-map-keys", Want::texts, "array",
       "the fields that tell items of a listType=map apart"},
      {"mapType", "x-kubernetes-map-type", Want::text, "object", "atomic or granular"},
      {"preserveUnknown", "x-kubernetes-preserve-unknown-fields", Want::flag, "",
       "fields that the schema lacks are kept"},
      {"embedded", "x-kubernetes-embedded-resource", Want::flag, "object",
       "a whole object with apiVersion, kind and metadata"},
  };
  return all;
}

const Keyword* find_keyword(std::string_view name) {
  if (name == "listMapKey") name = "listMapKeys";
  if (name == "structType") name = "mapType";
  for (const Keyword& keyword : keywords()) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

const Keyword* find_by_schema_key(std::string_view key) {
  for (const Keyword& keyword : keywords()) {
    if (keyword.schema_key == key) return &keyword;
  }
  return nullptr;
}

namespace {

std::string check_words(const Keyword& keyword, const Json& value) {
  std::vector<std::string> known;
  if (keyword.name == "listType") known = {"atomic", "set", "map"};
  if (keyword.name == "mapType") known = {"atomic", "granular"};
  const std::string word = value.get<std::string>();
  if (known.empty() || std::find(known.begin(), known.end(), word) != known.end()) return "";
  return fmt::format("{} is unknown{}", in_quotes(word), did_you_mean(word, known));
}

bool all_texts(const Json& value) {
  return value.is_string() ||
         (value.is_array() && !value.empty() &&
          std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); }));
}

std::string check_fields(const Keyword& keyword, const Json& value) {
  const Json schema = {{std::string(keyword.schema_key), value}};
  for (const auto& unknown : schema::unknown_schema_fields(schema, 1)) {
    const std::string& name = unknown.steps.back();
    return fmt::format("has no {}{}", in_quotes(name), did_you_mean(name, unknown.known()));
  }
  const auto parsed = schema::parse_structural(schema);
  return parsed.ok() ? "" : "is none: " + parsed.error().message();
}

// The server keeps limits as doubles; another number than the one written is worse than none.
bool is_exact(const Json& number) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53U;
  if (number.is_number_float()) return std::isfinite(number.get<double>());
  if (number.is_number_unsigned()) return number.get<std::uint64_t>() <= std::uint64_t{kMost};
  const auto value = number.get<std::int64_t>();
  return value >= -kMost && value <= kMost;
}

}  // namespace

std::string check_value(const Keyword& keyword, const Json& value) {
  using Want = Keyword::Want;
  const auto wrong = [&value](std::string_view wanted) {
    return fmt::format("must be {}, not {}", wanted, type_name(value));
  };
  switch (keyword.want) {
    case Want::number:
      if (!value.is_number()) return wrong("a number");
      return is_exact(value) ? ""
                             : "must be between -2^53 and 2^53: the server keeps it as a double";
    case Want::size: {
      if (!value.is_number_integer()) return wrong("a whole number");
      return value.is_number_unsigned() || value.get<std::int64_t>() >= 0 ? ""
                                                                          : "must not be negative";
    }
    case Want::flag: return value.is_boolean() ? "" : wrong("true or false");
    case Want::text: return value.is_string() ? check_words(keyword, value) : wrong("text");
    case Want::texts: return all_texts(value) ? "" : "must be a text or a list of texts";
    case Want::list:
      return value.is_array() && !value.empty() ? "" : "must be a list that is not empty";
    case Want::mapping:
      return value.is_object() ? check_fields(keyword, value) : wrong("a mapping");
    case Want::any: return "";
  }
  return "";
}

bool applies_to(const Keyword& keyword, const Json& schema) {
  if (keyword.types.empty()) return true;
  const auto type = schema.find("type");
  if (type == schema.end() || !type->is_string()) return true;
  const std::string spaced = " " + std::string(keyword.types) + " ";
  return spaced.find(" " + type->get<std::string>() + " ") != std::string::npos;
}

}  // namespace kubewatch::crdgen
