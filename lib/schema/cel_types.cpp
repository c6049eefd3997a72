#include "schema/cel_types.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "cel/words.hpp"

namespace kubewatch::schema {

namespace {

using cel::DataType;
using Form = DataType::Form;
using CelKind = cel::Type::Kind;

// JSON texts of times, quotes included: the longest, the shortest.
constexpr std::uint64_t kLongestTime = 32;
constexpr std::int64_t kShortestTime = 21;
constexpr std::int64_t kShortestDuration = 3;
constexpr std::int64_t kDateSize = 12;

std::uint64_t not_negative(std::int64_t value) {
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::shared_ptr<DataType> make(const Structural& schema, Form form, cel::TypePtr type,
                               std::uint64_t max_elements = 0) {
  auto out = std::make_shared<DataType>();
  out->form = form;
  out->nullable = schema.nullable;
  out->type = std::move(type);
  out->max_elements = max_elements;
  return out;
}

DeclaredType undeclared() {
  return {std::make_shared<DataType>(), 0};
}

DeclaredType simple(const Structural& schema, Form form, CelKind kind, std::int64_t min_size,
                    std::uint64_t max_elements = 0) {
  return {make(schema, form, cel::simple(kind), max_elements), min_size};
}

const Structural* property(const Structural& schema, std::string_view name) {
  const auto at = schema.properties.find(name);
  return at == schema.properties.end() ? nullptr : at->second.get();
}

bool is_string(const Structural* schema) {
  return schema != nullptr && schema->type == "string";
}

// Whether it says itself what every resource has.
bool has_meta(const Structural& schema) {
  const auto* metadata = property(schema, "metadata");
  return is_string(property(schema, "kind")) && is_string(property(schema, "apiVersion")) &&
         metadata != nullptr && metadata->is_object() && is_string(property(*metadata, "name")) &&
         is_string(property(*metadata, "generateName"));
}

StructuralPtr of_type(const char* type) {
  auto schema = std::make_shared<Structural>();
  schema->type = type;
  return schema;
}

const std::map<std::string, StructuralPtr, std::less<>>& meta_properties() {
  static const auto kMeta = [] {
    auto metadata = std::make_shared<Structural>();
    metadata->type = "object";
    metadata->properties = {{"name", of_type("string")}, {"generateName", of_type("string")}};
    return std::map<std::string, StructuralPtr, std::less<>>{
        {"kind", of_type("string")}, {"apiVersion", of_type("string")}, {"metadata", metadata}};
  }();
  return kMeta;
}

}  // namespace

std::optional<std::string> escape_name(std::string_view name) {
  if (name.empty() || base::is_digit(name[0])) return std::nullopt;
  if (cel::is_keyword(name) || cel::is_reserved_word(name)) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      out += "__underscores__";
      ++i;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else if (base::is_alphanumeric(c) || c == '_') {
      out += c;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

DeclaredTypes::DeclaredTypes(const Structural& root, bool resource_root) {
  declare(root, resource_root, ValuePlace::root("selfType"));
}

const DeclaredType* DeclaredTypes::find(const Structural& schema) const {
  const auto found = types_.find(&schema);
  return found == types_.end() ? nullptr : &found->second;
}

DeclaredType DeclaredTypes::declare(const Structural& schema, bool resource_root,
                                    const ValuePlace& name) {
  DeclaredType out = undeclared();
  if (schema.int_or_string) {
    const auto most = schema.max_length ? not_negative(*schema.max_length) * 4
                                        : static_cast<std::uint64_t>(kMaxRequestBytes - 2);
    out = simple(schema, Form::int_or_string, CelKind::dyn, 1, most);
  } else if (schema.type == "array") {
    out = declare_list(schema, name);
  } else if (schema.is_object()) {
    out = declare_object(schema, resource_root, name);
  } else if (schema.type == "string") {
    out = declare_string(schema);
  } else if (schema.type == "boolean") {
    out = simple(schema, Form::boolean, CelKind::boolean, 4);
  } else if (schema.type == "number") {
    out = simple(schema, Form::number, CelKind::real, 1);
  } else if (schema.type == "integer") {
    out = simple(schema, Form::integer, CelKind::integer, 1);
  }
  types_[&schema] = out;
  return out;
}

// A type keeps its name, and below a long one each would be as long: then a number tells it from
// the others.
std::string DeclaredTypes::name_of(const ValuePlace& place) const {
  constexpr std::size_t kLongest = 4096;
  if (place.size() <= kLongest) return place.text();
  return "selfType.@" + std::to_string(types_.size());
}

DeclaredType DeclaredTypes::declare_list(const Structural& schema, const ValuePlace& name) {
  if (schema.items == nullptr) return undeclared();
  const auto items = declare(*schema.items, schema.items->embedded_resource, name.with(".@idx"));
  if (!items.declared()) return undeclared();
  const auto most = schema.max_items ? not_negative(*schema.max_items)
                                     : not_negative((kMaxRequestBytes - 2) / (items.min_size + 1));
  auto out = make(schema, Form::list, cel::list_of(items.type->type), most);
  out->element = items.type;
  if (schema.list_type == "set") out->list_kind = DataType::ListKind::set;
  if (schema.list_type == "map") {
    out->list_kind = DataType::ListKind::map;
    out->list_keys = schema.list_map_keys.value_or(std::vector<std::string>());
  }
  return {out, 2};
}

DeclaredType DeclaredTypes::declare_object(const Structural& schema, bool resource_root,
                                           const ValuePlace& name) {
  if (schema.additional_properties != nullptr && !resource_root) {
    const auto& inner = *schema.additional_properties;
    const auto values = declare(inner, inner.embedded_resource, name.with(".@elem"));
    if (!values.declared()) return undeclared();
    const auto most = schema.max_properties
                          ? not_negative(*schema.max_properties)
                          : not_negative((kMaxRequestBytes - 2) / (values.min_size + 6));
    auto out =
        make(schema, Form::map, cel::map_of(cel::simple(CelKind::string), values.type->type), most);
    out->element = values.type;
    return {out, 2};
  }
  auto out = make(schema, Form::object, nullptr);
  std::int64_t min_size = 2;
  auto properties = schema.properties;
  if (resource_root && !has_meta(schema)) {
    for (const auto& [key, meta] : meta_properties()) properties[key] = meta;
  }
  for (const auto& [key, inner] : properties) {
    const auto escaped = escape_name(key);
    const auto field = declare(*inner, inner->embedded_resource,
                               name.member(escaped ? std::string_view(*escaped) : key));
    out->names[key] = field.declared() ? escaped.value_or("") : "";
    if (!field.declared()) continue;
    if (escaped) out->fields[*escaped] = {key, field.type};
    const bool required =
        std::find(schema.required.begin(), schema.required.end(), key) != schema.required.end();
    if (required && !inner->default_value) {
      min_size += static_cast<std::int64_t>(key.size()) + field.min_size + 4;
    }
  }
  out->type = cel::object(name_of(name), out.get());
  return {out, min_size};
}

DeclaredType DeclaredTypes::declare_string(const Structural& schema) {
  constexpr auto kMost = static_cast<std::uint64_t>(kMaxRequestBytes - 2);
  if (schema.format == "byte") {
    return simple(schema, Form::bytes, CelKind::bytes, 2,
                  schema.max_length ? not_negative(*schema.max_length) : kMost);
  }
  if (schema.format == "duration") {
    return simple(schema, Form::duration, CelKind::duration, kShortestDuration, kLongestTime);
  }
  if (schema.format == "date") {
    return simple(schema, Form::date, CelKind::timestamp, kDateSize, kDateSize);
  }
  if (schema.format == "date-time") {
    return simple(schema, Form::date_time, CelKind::timestamp, kShortestTime, kLongestTime);
  }
  std::uint64_t most = kMost;
  if (schema.max_length) {
    most = not_negative(*schema.max_length) * 4;
  } else if (schema.enum_values && !schema.enum_values->empty()) {
    most = 0;
    for (const auto& value : *schema.enum_values) {
      if (value.is_string()) {
        most = std::max<std::uint64_t>(most, value.get_ref<const std::string&>().size());
      }
    }
  }
  return simple(schema, Form::string, CelKind::string, 2, most);
}

}  // namespace kubewatch::schema
