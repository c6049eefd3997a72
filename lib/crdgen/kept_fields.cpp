#include "crdgen/kept_fields.hpp"

#include "crdgen/schema_flag.hpp"
#include "schema/object_meta.hpp"

namespace kubewatch::crdgen {

namespace {

// The type that this schema has, without what it asks of a value.
Json bare(const Json& schema) {
  Json out = Json::object();
  for (const char* key : {"type", "x-kubernetes-int-or-string"}) {
    if (const auto it = schema.find(key); it != schema.end()) out[key] = *it;
  }
  return out;
}

const char* type_of(schema::MetaField::Shape shape) {
  using Shape = schema::MetaField::Shape;
  switch (shape) {
    case Shape::text: return "string";
    case Shape::count: return "integer";
    case Shape::texts_by_key: return "object";
    case Shape::texts:
    case Shape::objects: break;
  }
  return "array";
}

}  // namespace

bool is_whole_object(const Json& schema, const std::string& path) {
  return path.empty() || flag(schema, kEmbedded);
}

Meta meta_of_field(Meta around, bool whole, const std::string& name) {
  if (around != Meta::none) return Meta::below;
  return whole && name == "metadata" ? Meta::itself : Meta::none;
}

Meta meta_inside(Meta around) {
  return around == Meta::none ? Meta::none : Meta::below;
}

bool is_kept_field(Meta around, bool whole, const std::string& name) {
  const bool head = name == "apiVersion" || name == "kind" || name == "metadata";
  return around != Meta::none || (whole && head);
}

Json kept_field(const Json& schema, Meta around, bool whole, const std::string& name,
                const Json& other) {
  if (const auto values = schema.find("additionalProperties");
      values != schema.end() && values->is_object()) {
    return around == Meta::none ? Json() : *values;
  }
  if (!is_kept_field(around, whole, name)) return nullptr;
  if (around == Meta::none) return {{"type", name == "metadata" ? "object" : "string"}};
  const auto* field = around == Meta::itself ? schema::meta_field(name) : nullptr;
  return field == nullptr ? bare(other) : Json{{"type", type_of(field->shape)}};
}

// The fields of ObjectMeta itself are of many types.
Json kept_inside(Meta around, const Json& other) {
  return around == Meta::below ? bare(other) : open_value();
}

const Json& open_value() {
  static const Json kOpen = {{kPreserve, true}};
  return kOpen;
}

}  // namespace kubewatch::crdgen
