#include "schema/object_meta.hpp"

#include <cstdint>
#include <limits>
#include <map>

#include "base/json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

namespace {

using Shape = MetaField::Shape;

enum class ItemShape { text, truth, any };
struct ItemField {
  ItemShape shape;
  const char* type;
};
struct ItemType {
  std::string name;
  std::map<std::string, ItemField> fields;
};

const ItemType& item_type(const std::string& list) {
  static const ItemType owner = {"OwnerReference",
                                 {{"apiVersion", {ItemShape::text, "string"}},
                                  {"kind", {ItemShape::text, "string"}},
                                  {"name", {ItemShape::text, "string"}},
                                  {"uid", {ItemShape::text, "types.UID"}},
                                  {"controller", {ItemShape::truth, "bool"}},
                                  {"blockOwnerDeletion", {ItemShape::truth, "bool"}}}};
  static const ItemType entry = {"ManagedFieldsEntry",
                                 {{"manager", {ItemShape::text, "string"}},
                                  {"operation", {ItemShape::text, "v1.ManagedFieldsOperationType"}},
                                  {"apiVersion", {ItemShape::text, "string"}},
                                  {"time", {ItemShape::any, "v1.Time"}},
                                  {"fieldsType", {ItemShape::text, "string"}},
                                  {"fieldsV1", {ItemShape::any, "v1.FieldsV1"}},
                                  {"subresource", {ItemShape::text, "string"}}}};
  return list == "managedFields" ? entry : owner;
}

bool is_count(const Json& value) {
  if (!value.is_number_unsigned()) return value.is_number_integer();
  return value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

bool fits(const Json& value, Shape shape) {
  switch (shape) {
    case Shape::text: return value.is_string();
    case Shape::count: return is_count(value);
    case Shape::texts_by_key: return value.is_object();
    case Shape::texts:
    case Shape::objects: return value.is_array();
  }
  return false;
}

}  // namespace

const MetaField* meta_field(const std::string& name) {
  static const std::map<std::string, MetaField> table = {
      {"name", {Shape::text, "string"}},
      {"generateName", {Shape::text, "string"}},
      {"namespace", {Shape::text, "string"}},
      {"selfLink", {Shape::text, "string"}},
      {"uid", {Shape::text, "types.UID"}},
      {"resourceVersion", {Shape::text, "string"}},
      {"generation", {Shape::count, "int64"}},
      // Of times the decoder says what their own reader wants.
      {"creationTimestamp", {Shape::text, "string"}},
      {"deletionTimestamp", {Shape::text, "string"}},
      {"deletionGracePeriodSeconds", {Shape::count, "int64"}},
      {"labels", {Shape::texts_by_key, "map[string]string"}},
      {"annotations", {Shape::texts_by_key, "map[string]string"}},
      {"ownerReferences", {Shape::objects, "[]v1.OwnerReference"}},
      {"finalizers", {Shape::texts, "[]string"}},
      {"managedFields", {Shape::objects, "[]v1.ManagedFieldsEntry"}},
  };
  const auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

std::string why_no_meta_value(const MetaField& field, const std::string& path, const Json& value) {
  const auto refuse = [&](const Json& wrong, const char* type) {
    return misread_field(json_word(wrong), "ObjectMeta." + path, type);
  };
  // A number that a count cannot be shows itself.
  if (!fits(value, field.shape) && field.shape == Shape::count && value.is_number()) {
    return misread_field("number " + base::dump_json(value), "ObjectMeta." + path, field.type);
  }
  if (!fits(value, field.shape)) return refuse(value, field.type);
  if (field.shape != Shape::texts_by_key && field.shape != Shape::texts) return "";
  for (const auto& one : value) {
    if (!one.is_string()) return refuse(one, "string");
  }
  return "";
}

std::string read_meta_item(const std::string& list, const std::string& around, Json& item,
                           const ValuePlace& place, ToldPaths& unknown) {
  const ItemType& type = item_type(list);
  if (item.is_null()) item = Json::object();
  if (!item.is_object()) {
    return misread_field(json_word(item), "ObjectMeta." + around + list, "v1." + type.name);
  }
  for (auto it = item.begin(); it != item.end();) {
    const auto known = type.fields.find(it.key());
    if (known == type.fields.end()) unknown.add(place.member(it.key()));
    if (known == type.fields.end() || it->is_null()) {
      it = item.erase(it);
      continue;
    }
    const ItemField& field = known->second;
    const bool read = field.shape == ItemShape::any ||
                      (field.shape == ItemShape::text ? it->is_string() : it->is_boolean());
    if (!read) {
      return misread_field(json_word(*it), type.name + "." + around + list + "." + it.key(),
                           field.type);
    }
    ++it;
  }
  return "";
}

}  // namespace kubewatch::schema
