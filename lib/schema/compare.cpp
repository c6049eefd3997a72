// How two values of one schema differ, as sets of removed, modified and added fields.
#include <algorithm>
#include <map>
#include <vector>

#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

using Kind = MergeNode::Kind;

// The sets below a node and whether its own path belongs to one of them.
struct Delta {
  Comparison below;
  bool removed = false;
  bool modified = false;
  bool added = false;
};

Delta delta_of(const MergeNode& node, const Json* before, const Json* after);

void attach(Comparison& out, const PathElement& element, Delta delta) {
  if (delta.removed) out.removed.add_member(element);
  if (delta.modified) out.modified.add_member(element);
  if (delta.added) out.added.add_member(element);
  out.removed.add_child(element, std::move(delta.below.removed));
  out.modified.add_child(element, std::move(delta.below.modified));
  out.added.add_child(element, std::move(delta.below.added));
}

void leaf(Delta& out, const Json* before, const Json* after) {
  if (before == nullptr) {
    out.added = true;
  } else if (after == nullptr) {
    out.removed = true;
  } else if (*before != *after) {
    out.modified = true;
  }
}

const Json* map_or_null(const Json* value) {
  return value != nullptr && value->is_object() ? value : nullptr;
}

const Json* list_or_null(const Json* value) {
  return value != nullptr && value->is_array() ? value : nullptr;
}

// A struct's field: as written, or as the server's own type implies it.
const Json* field_of(const MergeNode& node, const Json* map, const std::string& key) {
  if (map == nullptr) return nullptr;
  if (const auto found = map->find(key); found != map->end()) return &*found;
  const auto implied = node.implied.find(key);
  return implied == node.implied.end() ? nullptr : &implied->second;
}

void compare_maps(const MergeNode& node, const Json* before, const Json* after, Delta& out) {
  const auto visit = [&](const std::string& key) {
    const Json* left = field_of(node, before, key);
    const Json* right = field_of(node, after, key);
    if (left == nullptr && right == nullptr) return;
    attach(out.below, PathElement::of_field(key),
           delta_of(child_or_deduced(node, key), left, right));
  };
  const auto has = [](const Json* map, const std::string& key) {
    return map != nullptr && map->contains(key);
  };
  if (before != nullptr) {
    for (const auto& [key, value] : before->items()) visit(key);
  }
  if (after != nullptr) {
    for (const auto& [key, value] : after->items()) {
      if (!has(before, key)) visit(key);
    }
  }
  for (const auto& [key, value] : node.implied) {
    if (!has(before, key) && !has(after, key)) visit(key);
  }
}

using Items = std::map<PathElement, std::vector<const Json*>>;

Items items_of(const MergeNode& node, const Json* list) {
  Items out;
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    Result<PathElement> element = item_element(node, item);
    if (element.ok()) out[std::move(*element)].push_back(&item);
  }
  return out;
}

bool same_items(const std::vector<const Json*>& a, const std::vector<const Json*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Json* x, const Json* y) { return *x == *y; });
}

// Items that occur twice on a side are one atomic value there.
Delta item_delta(const MergeNode& node, const std::vector<const Json*>& before,
                 const std::vector<const Json*>& after) {
  const MergeNode& item = element_or_deduced(node);
  const Json* left = before.empty() ? nullptr : before.front();
  const Json* right = after.empty() ? nullptr : after.front();
  if (before.size() <= 1 && after.size() <= 1) return delta_of(item, left, right);
  Delta out;
  if (before.size() >= 2 && after.size() >= 2) {
    out.modified = !same_items(before, after);
  } else if (before.size() >= 2) {
    if (right != nullptr) out = delta_of(item, nullptr, right);
    out.removed = true;
  } else {
    if (left != nullptr) out = delta_of(item, left, nullptr);
    out.added = true;
  }
  return out;
}

void compare_items(const MergeNode& node, const Json* before, const Json* after, Delta& out) {
  const Items left = items_of(node, before);
  const Items right = items_of(node, after);
  static const std::vector<const Json*> kNone;
  for (const auto& [element, items] : left) {
    const auto theirs = right.find(element);
    attach(out.below, element,
           item_delta(node, items, theirs == right.end() ? kNone : theirs->second));
  }
  for (const auto& [element, items] : right) {
    if (left.count(element) == 0) attach(out.below, element, item_delta(node, kNone, items));
  }
}

void compare_as(Kind shape, const MergeNode& node, const Json* before, const Json* after,
                Delta& out) {
  const bool map = shape == Kind::map;
  const Json* left = map ? map_or_null(before) : list_or_null(before);
  const Json* right = map ? map_or_null(after) : list_or_null(after);
  if (!(map || is_associative(shape)) || (hollow(left) && hollow(right) && node.implied.empty())) {
    return leaf(out, before, after);
  }
  if (map && left == nullptr && right == nullptr) return leaf(out, before, after);
  if (map) {
    compare_maps(node, left, right, out);
  } else {
    compare_items(node, left, right, out);
  }
  if (before == nullptr) out.added = true;
  if (after == nullptr) out.removed = true;
}

Delta delta_of(const MergeNode& node, const Json* before, const Json* after) {
  Delta out;
  if (before != nullptr && after != nullptr && *before == *after) return out;
  const Kind left = shape_of(node, before);
  const Kind right = shape_of(node, after);
  const bool any_left = before == nullptr || left == Kind::deduced;
  const bool any_right = after == nullptr || right == Kind::deduced;
  if (!any_left && !any_right && left != right) compare_as(left, node, before, after, out);
  compare_as(any_right ? left : right, node, before, after, out);
  return out;
}

}  // namespace

void Comparison::exclude(const FieldSet& ignored) {
  if (ignored.empty()) return;
  removed = removed.recursive_difference(ignored);
  modified = modified.recursive_difference(ignored);
  added = added.recursive_difference(ignored);
}

Comparison compare(const MergeNode& node, const Json& before, const Json& after) {
  return delta_of(node, &before, &after).below;
}

}  // namespace kubewatch::schema
