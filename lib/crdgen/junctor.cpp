#include "crdgen/junctor.hpp"

#include <string_view>

#include "crdgen/schema_flag.hpp"

namespace kubewatch::crdgen {

Json junctor_of(const Json& schema, const char* key) {
  static const Json kEither = {{{"type", "integer"}}, {{"type", "string"}}};
  const auto it = schema.find(key);
  if (it == schema.end()) return nullptr;
  const Json& value = *it;
  if (!flag(schema, "x-kubernetes-int-or-string") || !value.is_array()) return value;
  if (key == std::string_view("anyOf") && value == kEither) return nullptr;
  if (key != std::string_view("allOf")) return value;
  Json rest = Json::array();
  for (const Json& one : value) {
    if (one != Json{{"anyOf", kEither}}) rest.push_back(one);
  }
  return rest.empty() ? Json() : rest;
}

}  // namespace kubewatch::crdgen
