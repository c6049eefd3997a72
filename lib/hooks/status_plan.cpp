// Status and conditions as server-side apply wants them: fields left out of an apply are removed,
// so what this manager applied before is read back and carried over.
#include "hooks/status_plan.hpp"

#include "hooks/ownership.hpp"
#include "hooks/result_document.hpp"
#include "schema/field_set.hpp"
#include "schema/patch.hpp"

namespace kubewatch::hooks {
namespace {

using schema::FieldSet;
using schema::PathElement;

Json extract(const Json& live, const FieldSet& owned);

const FieldSet* below(const FieldSet& owned, const PathElement& element) {
  const FieldSet* child = owned.find_child(element);
  return child == nullptr || child->empty() ? nullptr : child;
}

bool matches_key(const Json& item, const Json& keys) {
  if (!item.is_object() || !keys.is_object()) return false;
  for (const auto& [name, value] : keys.items()) {
    auto it = item.find(name);
    if (it == item.end() || *it != value) return false;
  }
  return true;
}

Json extract_map(const Json& live, const FieldSet& owned) {
  Json out = Json::object();
  for (const auto& [name, value] : live.items()) {
    const PathElement element = PathElement::of_field(name);
    if (const FieldSet* child = below(owned, element)) {
      out[name] = extract(value, *child);
    } else if (owned.members().count(element) > 0) {
      out[name] = value;
    }
  }
  return out;
}

Json extract_list(const Json& live, const FieldSet& owned) {
  Json out = Json::array();
  for (const Json& item : live) {
    for (const PathElement& element : owned.members()) {
      if (element.kind == PathElement::Kind::value && element.json == item) out.push_back(item);
    }
    for (const auto& [element, child] : owned.children()) {
      if (element.kind != PathElement::Kind::key || !matches_key(item, element.json)) continue;
      Json part = extract_map(item, child);
      part.update(element.json);
      out.push_back(std::move(part));
    }
  }
  return out;
}

Json extract(const Json& live, const FieldSet& owned) {
  if (live.is_object()) return extract_map(live, owned);
  if (live.is_array()) return extract_list(live, owned);
  return live;
}

const Json* live_condition(const Json& conditions, const std::string& type) {
  if (!conditions.is_array()) return nullptr;
  for (const Json& condition : conditions) {
    if (base::string_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

// `base` with each of `updates` in the place of its type, new ones at the end; without those that
// are to go.
Json merge_by_type(Json base_list, const std::vector<Json>& updates) {
  for (const Json& update : updates) {
    if (is_removal(update)) {
      std::erase_if(base_list.get_ref<Json::array_t&>(), [&](const Json& condition) {
        return base::string_at(condition, {"type"}) == update["type"].get_ref<const std::string&>();
      });
      continue;
    }
    bool placed = false;
    for (Json& condition : base_list) {
      if (base::string_at(condition, {"type"}) != update["type"].get_ref<const std::string&>()) {
        continue;
      }
      // Fields that others added stay.
      if (condition.is_object()) condition.update(update);
      placed = true;
    }
    if (!placed) base_list.push_back(update);
  }
  return base_list;
}

Json apply_document(const StatusRequest& request, Json status) {
  // With the uid: status of an object that was made anew under this name is not ours to write.
  Json metadata = {{"name", base::string_at(request.live, {"metadata", "name"})}};
  if (auto uid = base::string_at(request.live, {"metadata", "uid"}); !uid.empty()) {
    metadata["uid"] = uid;
  }
  if (auto ns = base::string_at(request.live, {"metadata", "namespace"}); !ns.empty()) {
    metadata["namespace"] = ns;
  }
  return {{"apiVersion", request.gvk.api_version()},
          {"kind", request.gvk.kind},
          {"metadata", std::move(metadata)},
          {"status", std::move(status)}};
}

}  // namespace

Json applied_status(const Json& live, const std::string& manager) {
  const Json* status = base::find(live, {"status"});
  if (status == nullptr) return Json::object();
  for (const Json& entry : base::items_at(live, {"metadata", "managedFields"})) {
    if (!is_apply_of(entry, manager, "status")) continue;
    const Json* fields = base::find(entry, {"fieldsV1"});
    if (fields == nullptr) continue;
    auto owned = FieldSet::from_fields_v1(*fields);
    if (!owned.ok()) continue;
    const FieldSet* of_status = owned->find_child(PathElement::of_field("status"));
    if (of_status != nullptr) return extract(*status, *of_status);
  }
  return Json::object();
}

std::vector<Json> complete_conditions(const StatusRequest& request) {
  const Json existing = base::items_at(request.live, {"status", "conditions"});
  std::vector<Json> out = request.conditions;
  for (Json& condition : out) {
    if (is_removal(condition)) continue;
    const Json* before = live_condition(existing, condition["type"].get_ref<const std::string&>());
    if (request.shape.observed_generation) condition["observedGeneration"] = request.generation;
    if (!request.shape.transition_time) continue;
    const std::string since =
        before == nullptr ? "" : base::string_at(*before, {"lastTransitionTime"});
    const bool same = before != nullptr && !since.empty() &&
                      base::string_at(*before, {"status"}) == condition["status"];
    condition["lastTransitionTime"] = same ? since : base::format_rfc3339(request.now);
  }
  return out;
}

Result<StatusWrites> plan_status_writes(const StatusRequest& request) {
  if (!request.conditions.empty()) KW_TRY(check_has_conditions(request.shape, request.gvk));
  StatusWrites out;
  const std::vector<Json> conditions = complete_conditions(request);
  const Json before = applied_status(request.live, request.manager);
  Json after = before;
  if (request.status) after = schema::merge_patch(after, *request.status);
  if (!after.is_object()) after = Json::object();
  if (!conditions.empty() && request.shape.list_map) {
    after["conditions"] = merge_by_type(base::items_at(before, {"conditions"}), conditions);
    // Whoever applies an empty list owns all of it, what others add included.
    if (after["conditions"].empty()) after.erase("conditions");
  } else if (!conditions.empty()) {
    const Json existing = base::items_at(request.live, {"status", "conditions"});
    Json merged = merge_by_type(existing, conditions);
    if (merged != existing) {
      out.conditions_patch = {
          {"metadata",
           {{"resourceVersion", base::string_at(request.live, {"metadata", "resourceVersion"})}}},
          {"status", {{"conditions", std::move(merged)}}}};
    }
  }
  if (after != before) out.apply = apply_document(request, std::move(after));
  return out;
}

}  // namespace kubewatch::hooks
