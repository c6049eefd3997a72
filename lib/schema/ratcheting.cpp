#include "schema/ratcheting.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::schema {

namespace {

bool is_keyed(const Structural& list) {
  return list.list_type == "map" && list.list_map_keys && !list.list_map_keys->empty();
}

}  // namespace

OldItems::OldItems(const Structural& list, const Json* old) : list_(list) {
  if (old == nullptr || !old->is_array() || !is_keyed(list)) return;
  for (const auto& item : *old) {
    if (auto key = identity(item)) items_.emplace(std::move(*key), &item);
  }
}

const Json* OldItems::find(const Json& item) const {
  if (items_.empty()) return nullptr;
  const auto key = identity(item);
  const auto at = key ? items_.find(*key) : items_.end();
  return at == items_.end() ? nullptr : at->second;
}

std::optional<Json> OldItems::identity(const Json& item) const {
  if (!item.is_object()) return std::nullopt;
  Json out = Json::array();
  for (const auto& key : *list_.list_map_keys) {
    const auto at = item.find(key);
    if (at == item.end() || at->is_null() || at->is_structured()) return std::nullopt;
    out.push_back(*at);
  }
  return out;
}

bool RatchetingEquality::equal(const Structural& schema, const Json& old, const Json& value) {
  if (!value.is_structured() || old.type() != value.type()) return old == value;
  if (old.size() != value.size()) return false;
  if (const auto at = known_.find(&value); at != known_.end()) return at->second;
  const bool same =
      value.is_object() ? equal_objects(schema, old, value) : equal_lists(schema, old, value);
  known_.emplace(&value, same);
  return same;
}

bool RatchetingEquality::equal_objects(const Structural& schema, const Json& old,
                                       const Json& value) {
  for (const auto& [key, member] : value.items()) {
    const auto before = old.find(key);
    const Structural* below = schema.member(key);
    if (before == old.end() || below == nullptr || !equal(*below, *before, member)) return false;
  }
  return true;
}

bool RatchetingEquality::equal_lists(const Structural& schema, const Json& old, const Json& value) {
  if (!is_keyed(schema)) return old == value;
  const OldItems items(schema, &old);
  return std::all_of(value.begin(), value.end(), [&](const Json& item) {
    const Json* before = items.find(item);
    return before != nullptr && schema.items != nullptr && equal(*schema.items, *before, item);
  });
}

}  // namespace kubewatch::schema
