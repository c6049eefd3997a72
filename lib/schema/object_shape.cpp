#include "schema/object_shape.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "schema/go_words.hpp"
#include "schema/value_place.hpp"

namespace kubewatch::schema {

namespace {

class Pruner {
 public:
  ToldPaths removed;

  // Null: nothing is known here, objects are emptied.
  void prune(Json& value, const Structural* schema, const ValuePlace& place, bool embedded) {
    if (schema != nullptr && schema->preserves_unknown()) {
      keep(value, *schema, place, embedded);
      return;
    }
    if (value.is_array()) {
      const Structural* items = schema != nullptr ? schema->items.get() : nullptr;
      for (std::size_t i = 0; i < value.size(); ++i) descend(value[i], items, place.item(i));
      return;
    }
    if (!value.is_object()) return;
    for (auto it = value.begin(); it != value.end();) {
      const ValuePlace below = place.property(it.key());
      if (schema != nullptr && embedded && is_meta(it.key())) {
        ++it;
      } else if (const auto member = member_of(schema, it.key())) {
        descend(*it, *member, below);
        ++it;
      } else {
        removed.add(below);
        it = value.erase(it);
      }
    }
  }

 private:
  // Nothing: no member. Null: additionalProperties of true or false, of which nothing is known.
  static std::optional<const Structural*> member_of(const Structural* schema,
                                                    const std::string& key) {
    if (schema == nullptr) return std::nullopt;
    const auto property = schema->properties.find(key);
    if (property != schema->properties.end()) return property->second.get();
    if (!schema->additional_allowed) return std::nullopt;
    return schema->additional_properties.get();
  }

  void descend(Json& value, const Structural* schema, const ValuePlace& place) {
    if (!value.is_structured()) return;
    prune(value, schema, place, schema != nullptr && schema->embedded_resource);
  }

  void keep(Json& value, const Structural& schema, const ValuePlace& place, bool embedded) {
    if (value.is_array()) {
      if (!schema.items) return;
      for (std::size_t i = 0; i < value.size(); ++i) {
        keep(value[i], *schema.items, place.item(i), schema.items->embedded_resource);
      }
      return;
    }
    if (!value.is_object()) return;
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (embedded && is_meta(it.key())) continue;
      if (const auto member = member_of(&schema, it.key())) {
        descend(*it, *member, place.property(it.key()));
      }
    }
  }
};

bool is_lost_null(const Json& value, const Structural* schema) {
  return value.is_null() && schema != nullptr && !schema->nullable && !schema->default_value;
}

}  // namespace

std::vector<std::string> prune(Json& value, const Structural& schema, bool root) {
  Pruner pruner;
  pruner.prune(value, &schema, ValuePlace::root(), root || schema.embedded_resource);
  std::vector<std::string> removed = pruner.removed.take();
  std::sort(removed.begin(), removed.end());
  return removed;
}

void drop_nulls(Json& value, const Structural& schema) {
  if (value.is_array()) {
    if (!schema.items) return;
    for (auto& item : value) drop_nulls(item, *schema.items);
    return;
  }
  if (!value.is_object()) return;
  for (auto it = value.begin(); it != value.end();) {
    const Structural* member = schema.member(it.key());
    if (is_lost_null(*it, member)) {
      it = value.erase(it);
      continue;
    }
    if (member != nullptr && it->is_structured()) drop_nulls(*it, *member);
    ++it;
  }
}

namespace {

// What a copy of a value takes in memory, about.
std::size_t size_of(const Json& value) {
  constexpr std::size_t kEach = 16, kMember = 64;
  std::size_t size = kEach;
  if (value.is_string()) return size + value.get_ref<const std::string&>().size();
  if (value.is_array()) {
    for (const auto& item : value) size += size_of(item);
  }
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end(); ++it) {
      size += kMember + it.key().size() + size_of(*it);
    }
  }
  return size;
}

// A default may be large, and is copied into each of many items.
class DefaultsFiller {
 public:
  bool fill(Json& value, const Structural& schema) {
    if (value.is_array()) {
      if (!schema.items) return true;
      return std::all_of(value.begin(), value.end(),
                         [&](Json& item) { return fill_member(item, *schema.items); });
    }
    if (!value.is_object()) return true;
    for (const auto& [key, member] : schema.properties) {
      if (!member->default_value || value.contains(key)) continue;
      if (!pay(*member->default_value)) return false;
      value[key] = *member->default_value;
    }
    for (auto it = value.begin(); it != value.end(); ++it) {
      const Structural* member = schema.member(it.key());
      if (member != nullptr && !fill_member(*it, *member)) return false;
    }
    return true;
  }

 private:
  bool fill_member(Json& at, const Structural& by) {
    if (at.is_null() && !by.nullable && by.default_value) {
      if (!pay(*by.default_value)) return false;
      at = *by.default_value;
    }
    return !at.is_structured() || fill(at, by);
  }

  bool pay(const Json& copied) {
    const std::size_t size = size_of(copied);
    if (size > left_) return false;
    left_ -= size;
    return true;
  }

  std::size_t left_ = kMostDefaults;
};

}  // namespace

bool apply_defaults(Json& value, const Structural& schema) {
  return DefaultsFiller().fill(value, schema);
}

namespace {

// Of each value that occurs more than once, where it does so first again.
std::vector<std::size_t> repeated(const std::vector<Json>& values) {
  std::vector<std::size_t> out;
  if (values.size() <= 1) return out;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (++seen[base::dump_json(values[i])] == 2) out.push_back(i);
  }
  return out;
}

void check_keys(const Json& list, const Structural& schema, const ValuePlace& place,
                FieldErrors& errors) {
  std::vector<Json> identities;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& item = list[i];
    if (!item.is_object() && !item.is_null()) {
      errors.push_back(field_invalid(place.item(i).text(), shown_value(item),
                                     "must be an object for an array of list-type map"));
      return;
    }
    Json identity = Json::object();
    for (const auto& key : schema.list_map_keys.value_or(std::vector<std::string>())) {
      if (item.is_object() && item.contains(key)) identity[key] = item.at(key);
    }
    identities.push_back(std::move(identity));
  }
  for (const std::size_t i : repeated(identities)) {
    if (errors.full()) return;
    errors.push_back(field_duplicate(place.item(i).text(), shown_value(identities[i])));
  }
}

void check_members(const Json& object, const Structural& schema, const ValuePlace& place,
                   FieldErrors& errors);

void check_lists_below(const Json& value, const Structural& schema, const ValuePlace& place,
                       FieldErrors& errors) {
  if (value.is_object()) {
    check_members(value, schema, place, errors);
    return;
  }
  if (!value.is_array()) return;
  const std::string type = schema.list_type.value_or("");
  if (type == "set") {
    const std::vector<Json> values(value.begin(), value.end());
    for (const std::size_t i : repeated(values)) {
      if (errors.full()) return;
      errors.push_back(field_duplicate(place.item(i).text(), shown_value(value[i])));
    }
  } else if (type == "map") {
    check_keys(value, schema, place, errors);
  }
  if (!schema.items) return;
  std::size_t index = 0;
  for (const auto& item : value) {
    if (errors.full()) return;
    check_lists_below(item, *schema.items, place.item(index++), errors);
  }
}

void check_members(const Json& object, const Structural& schema, const ValuePlace& place,
                   FieldErrors& errors) {
  for (const auto& [key, value] : object.items()) {
    if (!value.is_structured()) continue;
    if (schema.additional_properties) {
      check_lists_below(value, *schema.additional_properties, place.entry(key), errors);
    }
    const auto property = schema.properties.find(key);
    if (property == schema.properties.end()) continue;
    check_lists_below(value, *property->second, place.property(key), errors);
  }
}

}  // namespace

void check_keyed_lists(const Json& object, const Structural& schema, FieldErrors& errors) {
  check_members(object, schema, ValuePlace::root(), errors);
}

}  // namespace kubewatch::schema
