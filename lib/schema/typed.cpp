// Shapes and item addresses: what all walks over values share. Not the walks.
#include "schema/typed.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "schema/times.hpp"

namespace kubewatch::schema {

using Kind = MergeNode::Kind;

const MergeNode& deduced_node() {
  static const MergeNode node;
  return node;
}

Kind shape_of(const MergeNode& node, const Json* value) {
  if (node.kind != Kind::deduced || value == nullptr) return node.kind;
  if (value->is_object()) return Kind::map;
  if (value->is_array()) return Kind::list_atomic;
  return value->is_null() ? Kind::deduced : Kind::scalar;
}

const MergeNode* MergeNode::child(const std::string& key) const {
  if (kind == Kind::deduced) return this;
  const auto known = fields.find(key);
  return known == fields.end() ? element.get() : known->second.get();
}

const MergeNode& child_or_deduced(const MergeNode& node, const std::string& key) {
  const MergeNode* child = node.child(key);
  return child == nullptr ? deduced_node() : *child;
}

const MergeNode& element_or_deduced(const MergeNode& list) {
  return list.element ? *list.element : deduced_node();
}

namespace {

Result<PathElement> set_item_element(const Json& item) {
  const auto illegal = [](const char* what) { return Error(ErrorKind::invalid, what); };
  if (item.is_object())
    return illegal("associative list without keys has an element that's a map type");
  if (item.is_array()) return illegal("not supported: associative list with lists as elements");
  if (item.is_null())
    return illegal("associative list without keys has an element that's an explicit null");
  return PathElement::of_value(item);
}

}  // namespace

Result<PathElement> item_element(const MergeNode& list, const Json& item) {
  if (list.kind == Kind::list_set) return set_item_element(item);
  if (!item.is_object()) {
    return Error(ErrorKind::invalid,
                 item.is_null() ? "associative list with keys may not have a null element"
                                : "associative list with keys may not have non-map elements");
  }
  Json keys = Json::object();
  for (const std::string& key : list.keys) {
    if (const auto found = item.find(key); found != item.end()) {
      keys[key] = *found;
    } else if (const auto fallback = list.key_defaults.find(key);
               fallback != list.key_defaults.end()) {
      keys[key] = fallback->second;
    }
  }
  if (keys.empty()) {
    return Error(ErrorKind::invalid,
                 "associative list with keys has an element that omits all key fields [\"" +
                     base::join(list.keys, "\" \"") +
                     "\"] (and doesn't have default values for any key fields)");
  }
  return PathElement::of_key(std::move(keys));
}

namespace {

bool is_collection(const MergeNode& node) {
  return is_associative(node.kind) || node.kind == Kind::list_atomic ||
         ((node.kind == Kind::map || node.kind == Kind::map_atomic) && !node.is_struct);
}

bool unwritten(const MergeNode& field, const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty() && is_collection(field));
}

// Left as it is where it has no canonical form: the validation says so.
void write_canonical(Json& value) {
  const bool text = value.is_string();
  if (!text && !value.is_number()) return;
  const auto quantity =
      base::Quantity::parse(text ? base::trim(value.get_ref<const std::string&>()) : value.dump());
  if (const auto canonical = quantity ? quantity->canonical() : std::nullopt) value = *canonical;
}

void write_time(MergeNode::Scalar kind, Json& value) {
  if (!value.is_string()) return;
  auto written = written_time(kind, value.get_ref<const std::string&>());
  if (written) value = std::move(*written);
}

}  // namespace

void as_written(const MergeNode& node, Json& value) {
  if (node.kind == Kind::scalar && node.scalar == MergeNode::Scalar::quantity) {
    return write_canonical(value);
  }
  if (is_time(node)) return write_time(node.scalar, value);
  if (value.is_array()) {
    for (Json& item : value) as_written(element_or_deduced(node), item);
  }
  if (!value.is_object() || node.kind == Kind::deduced) return;
  for (auto item = value.begin(); item != value.end();) {
    const MergeNode& field = child_or_deduced(node, item.key());
    as_written(field, *item);
    const bool drop = node.typed && node.implied.count(item.key()) == 0 && unwritten(field, *item);
    item = drop ? value.erase(item) : std::next(item);
  }
}

namespace {

void to_int64(Json& value) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63U != 0) value = kLeast;
  if (!value.is_number_float()) return;
  const double number = value.get<double>();
  if (number != std::trunc(number)) return;
  const bool holds = number >= -kBeyond && number < kBeyond;
  value = holds ? static_cast<std::int64_t>(number) : kLeast;
}

}  // namespace

void convert_numbers(const MergeNode& node, Json& value) {
  if (node.kind == Kind::scalar) {
    if (node.scalar == MergeNode::Scalar::int32 || node.scalar == MergeNode::Scalar::int64) {
      to_int64(value);
    }
    return;
  }
  if (value.is_array() && node.element) {
    for (Json& item : value) convert_numbers(*node.element, item);
  }
  if (!value.is_object() || node.kind == Kind::deduced) return;
  for (const auto& [key, below] : value.items()) {
    if (const MergeNode* child = node.child(key)) convert_numbers(*child, below);
  }
}

FieldSet with_named_parents(const MergeNode& node, const FieldSet& set) {
  FieldSet out;
  for (const PathElement& member : set.members()) out.add_member(member);
  for (const auto& [element, child] : set.children()) {
    const bool field = element.kind == PathElement::Kind::field;
    if (field && node.is_known_field(element.field)) out.add_member(element);
    const MergeNode& below =
        field ? child_or_deduced(node, element.field) : element_or_deduced(node);
    out.add_child(element, with_named_parents(below, child));
  }
  return out;
}

namespace {

bool is_atomic(const MergeNode& node) {
  return node.kind == Kind::map_atomic || node.kind == Kind::list_atomic ||
         (node.kind == Kind::scalar && node.anything);
}

}  // namespace

bool reconcile_with_schema(const MergeNode& node, FieldSet& set) {
  if (node.kind == Kind::deduced || node.kind == Kind::scalar) return false;
  bool changed = false;
  std::vector<PathElement> collapsed;
  for (auto& [element, child] : set.mutable_children()) {
    const bool field = element.kind == PathElement::Kind::field;
    const MergeNode* below = field ? node.child(element.field) : node.element.get();
    if (below == nullptr) continue;
    if (is_atomic(*below)) {
      collapsed.push_back(element);
    } else {
      changed = reconcile_with_schema(*below, child) || changed;
    }
  }
  for (const PathElement& element : collapsed) set.collapse(element);
  return changed || !collapsed.empty();
}

}  // namespace kubewatch::schema
