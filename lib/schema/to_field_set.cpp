// The set of fields that a value sets.
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

using Kind = MergeNode::Kind;

// `self`: whether the node's own path is in the set, apart from what its parent knows.
struct Fields {
  bool self = false;
  FieldSet below;
};

Fields fields_of(const MergeNode& node, const Json& value);

void add_map(const MergeNode& node, const Json& value, FieldSet& out) {
  for (const auto& [key, below] : value.items()) {
    Fields fields = fields_of(child_or_deduced(node, key), below);
    const bool hollow = below.is_null() || (below.is_object() && below.empty());
    PathElement element = PathElement::of_field(key);
    if (fields.self || hollow || !node.is_known_field(key)) out.add_member(element);
    out.add_child(std::move(element), std::move(fields.below));
  }
}

void add_items(const MergeNode& node, const Json& value, FieldSet& out) {
  std::map<PathElement, int> counts;
  std::vector<PathElement> elements;
  for (const Json& item : value) {
    Result<PathElement> element = item_element(node, item);
    elements.push_back(element.ok() ? std::move(*element) : PathElement::of_index(-1));
    ++counts[elements.back()];
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].kind == PathElement::Kind::index) continue;
    // Of items that occur twice only the item itself is known, not its fields.
    if (counts[elements[i]] == 1) {
      out.add_child(elements[i], fields_of(element_or_deduced(node), value[i]).below);
    }
    out.add_member(std::move(elements[i]));
  }
}

Fields fields_of(const MergeNode& node, const Json& value) {
  Fields out;
  switch (shape_of(node, &value)) {
    case Kind::scalar:
    case Kind::map_atomic:
    case Kind::list_atomic: out.self = true; break;
    case Kind::map:
      if (value.is_object()) add_map(node, value, out.below);
      break;
    case Kind::list_set:
    case Kind::list_map:
      if (value.is_array()) add_items(node, value, out.below);
      break;
    case Kind::deduced: break;  // null: the parent adds it
  }
  return out;
}

}  // namespace

FieldSet to_field_set(const MergeNode& node, const Json& value) {
  return fields_of(node, value).below;
}

}  // namespace kubewatch::schema
