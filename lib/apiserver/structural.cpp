#include "apiserver/structural.hpp"

#include <fmt/format.h>

#include <set>

namespace kubewatch::apiserver {

namespace {

bool flag(const Json& schema, const char* name) {
  const auto it = schema.find(name);
  return it != schema.end() && it->is_boolean() && it->get<bool>();
}

const Json* object_at(const Json& schema, const char* name) {
  const auto it = schema.find(name);
  return it != schema.end() && it->is_object() ? &*it : nullptr;
}

bool is_embedded_field(const std::string& key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

// The schema of one member: null when unknown. `open` is set when unknown members are kept.
const Json* member_schema(const Json& schema, const std::string& key, bool& open) {
  open = flag(schema, "x-kubernetes-preserve-unknown-fields");
  if (const Json* properties = object_at(schema, "properties")) {
    if (const auto it = properties->find(key); it != properties->end()) return &*it;
  }
  if (const Json* additional = object_at(schema, "additionalProperties")) return additional;
  if (flag(schema, "additionalProperties")) open = true;
  return nullptr;
}

void prune_value(Json& value, const Json& schema, const std::string& path, bool keep_embedded,
                 std::vector<std::string>& removed) {
  if (!schema.is_object()) return;
  if (value.is_array()) {
    const Json* items = object_at(schema, "items");
    if (items == nullptr) return;
    std::size_t index = 0;
    for (auto& item : value) {
      prune_value(item, *items, fmt::format("{}[{}]", path, index++),
                  flag(*items, "x-kubernetes-embedded-resource"), removed);
    }
    return;
  }
  if (!value.is_object()) return;
  for (auto it = value.begin(); it != value.end();) {
    if (keep_embedded && is_embedded_field(it.key())) {
      ++it;
      continue;
    }
    const std::string below = path.empty() ? it.key() : path + "." + it.key();
    bool open = false;
    const Json* member = member_schema(schema, it.key(), open);
    if (member == nullptr && !open) {
      removed.push_back(below);
      it = value.erase(it);
      continue;
    }
    if (member != nullptr) {
      prune_value(*it, *member, below, flag(*member, "x-kubernetes-embedded-resource"), removed);
    }
    ++it;
  }
}

void default_value(Json& value, const Json& schema, bool root) {
  if (!schema.is_object()) return;
  if (value.is_array()) {
    if (const Json* items = object_at(schema, "items")) {
      for (auto& item : value) default_value(item, *items, false);
    }
    return;
  }
  if (!value.is_object()) return;
  const Json* properties = object_at(schema, "properties");
  if (properties != nullptr) {
    for (const auto& [key, member] : properties->items()) {
      if (root && is_embedded_field(key)) continue;
      if (!member.is_object()) continue;
      const auto wanted = member.find("default");
      if (wanted != member.end()) {
        const auto it = value.find(key);
        if (it == value.end() || (it->is_null() && !flag(member, "nullable"))) value[key] = *wanted;
      }
      if (const auto it = value.find(key); it != value.end()) default_value(*it, member, false);
    }
  }
  if (const Json* additional = object_at(schema, "additionalProperties")) {
    for (auto& [key, member] : value.items()) {
      if (properties == nullptr || !properties->contains(key)) {
        default_value(member, *additional, false);
      }
    }
  }
}

}  // namespace

std::vector<std::string> prune(Json& object, const Json& schema) {
  std::vector<std::string> removed;
  prune_value(object, schema, "", true, removed);
  return removed;
}

void apply_defaults(Json& object, const Json& schema) {
  default_value(object, schema, true);
}

}  // namespace kubewatch::apiserver
