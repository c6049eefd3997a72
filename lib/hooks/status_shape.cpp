// Reads what matters for conditions out of schemas.
#include "hooks/status_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "schema/crd_check.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::hooks {
namespace {

bool preserves_unknown(const Json& schema) {
  return base::bool_at(schema, {"x-kubernetes-preserve-unknown-fields"});
}

bool keyed_by_type(const Json& conditions) {
  const Json* keys = base::find(conditions, {"x-kubernetes-list-map-keys"});
  return base::string_at(conditions, {"x-kubernetes-list-type"}) == "map" && keys != nullptr &&
         *keys == Json::array({"type"});
}

StatusShape shape_of_schema(const Json& schema) {
  StatusShape shape;
  shape.known = true;
  const Json* status = base::find(schema, {"properties", "status"});
  const Json* conditions =
      status == nullptr ? nullptr : base::find(*status, {"properties", "conditions"});
  if (conditions == nullptr) {
    const bool open =
        preserves_unknown(schema) || (status != nullptr && preserves_unknown(*status));
    shape.conditions = open;
    shape.observed_generation = open;
    return shape;
  }
  shape.list_map = keyed_by_type(*conditions);
  const Json* item = base::find(*conditions, {"items"});
  if (item == nullptr || preserves_unknown(*item)) {
    shape.observed_generation = true;
    return shape;
  }
  shape.observed_generation = base::find(*item, {"properties", "observedGeneration"}) != nullptr;
  shape.transition_time = base::find(*item, {"properties", "lastTransitionTime"}) != nullptr;
  return shape;
}

const schema::MergeNode* field(const schema::MergeNode* node, const std::string& name) {
  if (node == nullptr) return nullptr;
  auto it = node->fields.find(name);
  return it == node->fields.end() ? nullptr : it->second.get();
}

}  // namespace

StatusShape unknown_status_shape() {
  return {};
}

StatusShape status_shape_of_crd(const Json& crd, const std::string& version) {
  const Json* found = schema::crd_version(crd, version);
  const Json* schema =
      found == nullptr ? nullptr : base::find(*found, {"schema", "openAPIV3Schema"});
  return schema == nullptr ? StatusShape{} : shape_of_schema(*schema);
}

Result<void> check_has_conditions(const StatusShape& shape, const core::Gvk& gvk) {
  if (!shape.known || shape.conditions) return {};
  return Error(
      ErrorKind::invalid,
      fmt::format("conditions cannot be written: the schema of {} has no status.conditions",
                  gvk.str()));
}

StatusShape status_shape_of_builtin(const core::Gvk& gvk) {
  const schema::MergeNodePtr root = schema::builtin_merge_schema(gvk);
  if (!root) return {};
  StatusShape shape;
  shape.known = true;
  const schema::MergeNode* conditions = field(field(root.get(), "status"), "conditions");
  shape.conditions = conditions != nullptr;
  if (conditions == nullptr) return shape;
  shape.list_map = conditions->kind == schema::MergeNode::Kind::list_map &&
                   conditions->keys == std::vector<std::string>{"type"};
  const schema::MergeNode* item = conditions->element.get();
  // The compact table may leave out plain scalars: metav1.Condition's fields are assumed then.
  const bool lists_fields = field(item, "type") != nullptr;
  shape.observed_generation = lists_fields && field(item, "observedGeneration") != nullptr;
  shape.transition_time = !lists_fields || field(item, "lastTransitionTime") != nullptr;
  return shape;
}

}  // namespace kubewatch::hooks
