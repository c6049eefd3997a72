// Status and conditions as server-side apply wants them: fields left out of an apply are removed,
// so what this manager applied before is read back and carried over.
#include "hooks/status_plan.hpp"

#include "hooks/ownership.hpp"
#include "hooks/plan.hpp"
#include "hooks/result_document.hpp"
#include "schema/field_set.hpp"
#include "schema/patch.hpp"

namespace kubewatch::hooks {
namespace {

using schema::FieldSet;
using schema::PathElement;

// Whose fields are taken out of the live status, and those of anybody at the same place.
struct Fields {
  const FieldSet& owned;
  const FieldSet& anybodys;
};

Json extract(const Json& live, const Fields& fields);

const FieldSet* below(const FieldSet& set, const PathElement& element) {
  const FieldSet* child = set.find_child(element);
  return child == nullptr || child->empty() ? nullptr : child;
}

// A map or a list that was applied as one. Where somebody owns parts of it, it was applied empty
// and is no single value, whatever the schema calls it: the parts are theirs.
Json whole(const Json& live, const FieldSet* parts) {
  if (parts == nullptr || !live.is_structured()) return live;
  return live.is_object() ? Json::object() : Json::array();
}

bool matches_key(const Json& item, const Json& keys) {
  if (!item.is_object() || !keys.is_object()) return false;
  for (const auto& [name, value] : keys.items()) {
    auto it = item.find(name);
    if (it == item.end() || *it != value) return false;
  }
  return true;
}

Json extract_map(const Json& live, const Fields& fields) {
  Json out = Json::object();
  for (const auto& [name, value] : live.items()) {
    const PathElement element = PathElement::of_field(name);
    const FieldSet* parts = below(fields.anybodys, element);
    if (const FieldSet* child = below(fields.owned, element)) {
      out[name] = extract(value, {*child, *parts});
    } else if (fields.owned.has_member(element)) {
      out[name] = whole(value, parts);
    }
  }
  return out;
}

Json extract_list(const Json& live, const Fields& fields) {
  Json out = Json::array();
  for (const Json& item : live) {
    for (const PathElement& element : fields.owned.members()) {
      if (element.kind == PathElement::Kind::value && element.json == item) out.push_back(item);
    }
    for (const auto& [element, child] : fields.owned.children()) {
      if (element.kind != PathElement::Kind::key || !matches_key(item, element.json)) continue;
      Json part = extract_map(item, {child, *fields.anybodys.find_child(element)});
      part.update(element.json);
      out.push_back(std::move(part));
    }
  }
  return out;
}

Json extract(const Json& live, const Fields& fields) {
  if (live.is_object()) return extract_map(live, fields);
  if (live.is_array()) return extract_list(live, fields);
  return live;
}

std::optional<FieldSet> status_fields_of(const Json& entry) {
  const Json* fields = base::find(entry, {"fieldsV1"});
  if (fields == nullptr) return std::nullopt;
  auto owned = FieldSet::from_fields_v1(*fields);
  if (!owned.ok()) return std::nullopt;
  const FieldSet* of_status = owned->find_child(PathElement::of_field("status"));
  return of_status == nullptr ? std::nullopt : std::optional(*of_status);
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

// By who holds its message: equal values have several holders, as two rules that failed are of its
// status. A rule that is gone takes nothing back, so that others may.
bool failed_by_another_rule(const StatusRequest& request) {
  if (request.rule_managers == nullptr) return false;
  const Json* standing = live_condition(base::items_at(request.live, {"status", "conditions"}),
                                        std::string(kErrorCondition));
  if (standing == nullptr || !is_error_condition(*standing)) return false;
  const PathElement list = PathElement::of_field("conditions");
  const schema::Path message = {list, PathElement::of_key({{"type", kErrorCondition}}),
                                PathElement::of_field("message")};
  bool held = false;
  bool by_item = false;
  bool list_ours = request.wrote_error;
  bool list_of_a_rule = false;
  for (const Json& entry : base::items_at(request.live, {"metadata", "managedFields"})) {
    const auto fields = status_fields_of(entry);
    if (!fields) continue;
    const std::string manager = base::string_at(entry, {"manager"});
    const bool of_a_rule = request.rule_managers->contains(manager);
    if (fields->has(message)) {
      if (manager == request.manager) return false;
      by_item = true;
      held = held || of_a_rule;
    } else if (fields->has({list})) {
      list_ours = list_ours || manager == request.manager;
      list_of_a_rule = list_of_a_rule || of_a_rule;
    }
  }
  return held || (!by_item && list_of_a_rule && !list_ours);
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
  std::optional<FieldSet> ours;
  FieldSet anybodys;
  for (const Json& entry : base::items_at(live, {"metadata", "managedFields"})) {
    auto fields = status_fields_of(entry);
    if (!fields) continue;
    anybodys.merge_in(*fields);
    if (!ours && is_apply_of(entry, manager, "status")) ours = std::move(fields);
  }
  return ours ? extract(*status, {*ours, anybodys}) : Json::object();
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
  std::vector<Json> conditions = complete_conditions(request);
  out.own_left_out =
      failed_by_another_rule(request) && std::erase_if(conditions, yields_to_failure) > 0;
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
