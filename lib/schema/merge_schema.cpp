// The merge schema of custom resources: from a CRD's openAPIV3Schema, or deduced.
#include "schema/merge_schema.hpp"

#include "base/json.hpp"
#include "base/strings.hpp"
#include "schema/builtin_table.hpp"

namespace kubewatch::schema {
namespace {

using Kind = MergeNode::Kind;

constexpr int kMaxSchemaDepth = 200;

MergeNodePtr deduced() {
  static const MergeNodePtr node = std::make_shared<MergeNode>();
  return node;
}

MergeNodePtr scalar_of(MergeNode::Scalar scalar) {
  auto node = std::make_shared<MergeNode>();
  node->kind = Kind::scalar;
  node->scalar = scalar;
  return node;
}

MergeNodePtr node_of(const Json& schema, bool preserve, int depth);

void add_embedded(MergeNode& node) {
  node.fields["apiVersion"] = scalar_of(MergeNode::Scalar::string);
  node.fields["kind"] = scalar_of(MergeNode::Scalar::string);
  node.fields["metadata"] = builtin_definition("meta.v1.ObjectMeta");
}

// Below preserve-unknown-fields unknown keys are deduced; so are those of a map about which nothing
// is said.
void add_element(const Json& schema, bool preserve, int depth, MergeNode& node) {
  const Json* extra = base::find(schema, {"additionalProperties"});
  if (extra != nullptr && extra->is_object()) {
    node.element = node_of(*extra, preserve, depth + 1);
  } else if (extra != nullptr && extra->is_boolean()) {
    node.element = extra->get<bool>() ? deduced() : nullptr;
  } else if (preserve || node.fields.empty()) {
    node.element = deduced();
  }
  node.is_struct = node.element == nullptr;
}

MergeNodePtr map_of(const Json& schema, bool preserve, int depth) {
  auto node = std::make_shared<MergeNode>();
  node->kind =
      base::string_at(schema, {"x-kubernetes-map-type"}) == "atomic" ? Kind::map_atomic : Kind::map;
  if (const Json* properties = base::find(schema, {"properties"});
      properties && properties->is_object()) {
    for (const auto& [name, below] : properties->items()) {
      node->fields[name] = node_of(below, preserve, depth + 1);
    }
  }
  add_element(schema, preserve, depth, *node);
  if (base::bool_at(schema, {"x-kubernetes-embedded-resource"})) add_embedded(*node);
  return node;
}

void add_keys(const Json& schema, const Json& items, MergeNode& node) {
  for (const Json& key : base::items_at(schema, {"x-kubernetes-list-map-keys"})) {
    if (!key.is_string()) continue;
    const std::string name = key.get<std::string>();
    node.keys.push_back(name);
    const Json* fallback = base::find(items, {"properties", name, "default"});
    if (fallback != nullptr) node.key_defaults[name] = *fallback;
  }
}

MergeNodePtr list_of(const Json& schema, bool preserve, int depth) {
  static const Json kAny = Json::object();
  auto node = std::make_shared<MergeNode>();
  const std::string type = base::string_at(schema, {"x-kubernetes-list-type"});
  const Json* found = base::find(schema, {"items"});
  const Json& items = found == nullptr ? kAny : *found;
  node->kind = type == "set" ? Kind::list_set : type == "map" ? Kind::list_map : Kind::list_atomic;
  node->element = node_of(items, preserve, depth + 1);
  if (node->kind == Kind::list_map) add_keys(schema, items, *node);
  return node;
}

MergeNodePtr node_of(const Json& schema, bool preserve, int depth) {
  if (!schema.is_object() || depth > kMaxSchemaDepth) return deduced();
  preserve = preserve || base::bool_at(schema, {"x-kubernetes-preserve-unknown-fields"});
  const std::string type = base::string_at(schema, {"type"});
  if (base::bool_at(schema, {"x-kubernetes-int-or-string"}))
    return scalar_of(MergeNode::Scalar::any);
  if (type == "object") return map_of(schema, preserve, depth);
  if (type == "array") return list_of(schema, preserve, depth);
  if (type == "boolean") return scalar_of(MergeNode::Scalar::boolean);
  if (type == "integer" || type == "number") return scalar_of(MergeNode::Scalar::numeric);
  if (type != "string") return deduced();
  const std::string format = base::string_at(schema, {"format"});
  const bool plain = format.empty() || format == "byte";
  return scalar_of(plain ? MergeNode::Scalar::string : MergeNode::Scalar::any);
}

MergeNodePtr with_object_meta(MergeNodePtr node) {
  auto root = std::make_shared<MergeNode>(*node);
  if (root->kind == Kind::deduced) {
    root->kind = Kind::map;
    root->element = deduced();
  }
  add_embedded(*root);
  return root;
}

}  // namespace

bool PatchRule::merges() const {
  return strategy == "merge" || base::split(strategy, ',')[0] == "merge";
}

bool PatchRule::replaces() const {
  return strategy == "replace";
}

MergeNodePtr crd_merge_schema(const Json& open_api_v3_schema) {
  return with_object_meta(node_of(open_api_v3_schema, false, 0));
}

MergeNodePtr deduced_merge_schema() {
  static const MergeNodePtr node = with_object_meta(deduced());
  return node;
}

}  // namespace kubewatch::schema
