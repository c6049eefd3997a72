#include "apiserver/empties.hpp"

#include <map>

#include "schema/typed.hpp"

namespace kubewatch::apiserver {

namespace {

using schema::MergeNode;
using schema::PathElement;

// Which item of `sent` each of `kept` came from; null where none did.
std::vector<const Json*> sources(const Json& sent, const Json& kept, const MergeNode* node) {
  std::vector<const Json*> out;
  if (node == nullptr || node->kind != MergeNode::Kind::list_map) {
    if (sent.size() != kept.size()) return {};
    for (const Json& item : sent) out.push_back(&item);
    return out;
  }
  std::map<PathElement, const Json*> by_key;
  for (const Json& item : sent) {
    if (auto key = schema::item_element(*node, item)) by_key.emplace(std::move(*key), &item);
  }
  for (const Json& item : kept) {
    const auto key = schema::item_element(*node, item);
    const auto found = key ? by_key.find(*key) : by_key.end();
    out.push_back(found == by_key.end() ? nullptr : found->second);
  }
  return out;
}

Json lost_in_items(const Json& sent, const Json& kept, const MergeNode* node) {
  const auto from = sources(sent, kept, node);
  const MergeNode* item = node == nullptr ? nullptr : &schema::element_or_deduced(*node);
  Json out;
  bool any = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    out.push_back(from[i] == nullptr ? Json() : lost_empties(*from[i], kept[i], item));
    any = any || !out.back().is_null();
  }
  return any ? out : Json();
}

}  // namespace

Json lost_empties(const Json& sent, const Json& kept, const MergeNode* node) {
  if (sent.is_array() && kept.is_array()) return lost_in_items(sent, kept, node);
  Json out;
  if (!sent.is_object() || !kept.is_object()) return out;
  for (const auto& [key, below] : sent.items()) {
    const Json* there = base::find(kept, {key});
    if (there != nullptr && !there->is_null()) {
      const MergeNode* child = node == nullptr ? nullptr : &schema::child_or_deduced(*node, key);
      Json lost = lost_empties(below, *there, child);
      if (!lost.is_null()) out[key] = std::move(lost);
    } else if (below.is_structured() && below.empty()) {
      out[key] = below;
    }
  }
  return out;
}

void put_empties(const Json& empties, Json& object) {
  if (empties.is_array() && object.is_array() && empties.size() == object.size()) {
    for (std::size_t i = 0; i < object.size(); ++i) put_empties(empties[i], object[i]);
  }
  if (!empties.is_object() || !object.is_object()) return;
  for (const auto& [key, below] : empties.items()) {
    const auto there = object.find(key);
    if (there != object.end() && !there->is_null()) {
      put_empties(below, *there);
    } else if (below.empty()) {
      object[key] = below;
    }
  }
}

}  // namespace kubewatch::apiserver
