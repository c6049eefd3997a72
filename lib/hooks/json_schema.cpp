#include "hooks/json_schema.hpp"

#include <utility>

namespace kubewatch::hooks::json_schema {

Json described(Json schema, const char* text) {
  if (*text != '\0') schema["description"] = text;
  return schema;
}

Json text(const char* description) {
  return described({{"type", "string"}, {"minLength", 1}}, description);
}

Json matching(const char* pattern, const char* description) {
  return described({{"type", "string"}, {"pattern", pattern}}, description);
}

Json flag(const char* description) {
  return described({{"type", "boolean"}}, description);
}

Json whole(std::int64_t min, std::int64_t max, const char* description) {
  return described({{"type", "integer"}, {"minimum", min}, {"maximum", max}}, description);
}

Json words(const Words& values, const char* description) {
  return described({{"enum", values}}, description);
}

Json any_of(std::vector<Json> choices, const char* description) {
  return described({{"anyOf", Json(std::move(choices))}}, description);
}

Json list(Json items, const char* description) {
  return described({{"type", "array"}, {"items", std::move(items)}}, description);
}

Json some(Json items, const char* description) {
  Json out = list(std::move(items), description);
  out["minItems"] = 1;
  return out;
}

Json mapping(Json properties, const Words& required) {
  Json out = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  return out;
}

Json one_key(Json properties) {
  Json out = mapping(std::move(properties));
  out["minProperties"] = 1;
  out["maxProperties"] = 1;
  return out;
}

Json map_of(Json values, const char* names, const char* description) {
  return described({{"type", "object"},
                    {"propertyNames", {{"pattern", names}}},
                    {"additionalProperties", std::move(values)}},
                   description);
}

Json when(Json condition, Json consequence, Json otherwise) {
  Json out = {{"if", std::move(condition)}, {"then", std::move(consequence)}};
  if (!otherwise.is_null()) out["else"] = std::move(otherwise);
  return out;
}

Json has(const char* key) {
  return {{"required", Json::array({key})}};
}

Json with(const char* key, Json schema) {
  return {{"properties", {{key, std::move(schema)}}}};
}

}  // namespace kubewatch::hooks::json_schema
