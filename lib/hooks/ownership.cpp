// Labels, annotation and owner references of children.
#include "hooks/ownership.hpp"

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "core/object_ref.hpp"

namespace kubewatch::hooks {
namespace {

Json& object_at(Json& parent, std::string_view key) {
  Json& child = parent[std::string(key)];
  if (!child.is_object()) child = Json::object();
  return child;
}

// Of a deletion: longer than anybody waits, and no overflow.
constexpr std::int64_t kLongestGrace = 366L * 24 * 60 * 60;

}  // namespace

std::string Owner::str() const {
  if (none()) return "<none>";
  return gvk.kind + " " + key.str();
}

std::string Owner::reference() const {
  return gvk.api_version() + " " + gvk.kind + " " + key.str();
}

std::string ChildId::str() const {
  return kind + " " + key.str();
}

ChildId child_id(const core::Gvk& gvk, const core::ObjectKey& key) {
  return {gvk.group, gvk.kind, key};
}

bool may_reference(const Owner& owner, OwnerRef mode, const std::string& child_namespace) {
  if (mode == OwnerRef::none || owner.deleting || owner.none()) return false;
  return !owner.namespaced || owner.key.namespace_ == child_namespace;
}

bool needs_finalizer(const Owner& owner, OwnerRef mode, const std::string& child_namespace) {
  if (owner.none()) return false;  // nothing that could carry it
  if (mode == OwnerRef::none) return true;
  return owner.namespaced && owner.key.namespace_ != child_namespace;
}

Json with_ownership(Json manifest, const std::string& controller, const Owner& owner,
                    OwnerRef mode) {
  Json& metadata = object_at(manifest, "metadata");
  Json& labels = object_at(metadata, "labels");
  labels[std::string(kControllerLabel)] = controller;
  if (owner.none()) return manifest;
  labels[std::string(kOwnerUidLabel)] = owner.uid;
  object_at(metadata, "annotations")[std::string(kOwnerAnnotation)] = owner.reference();
  if (may_reference(owner, mode, base::string_at(metadata, {"namespace"}))) {
    const core::ObjectRef ref{owner.gvk.api_version(), owner.gvk.kind, owner.key.namespace_,
                              owner.key.name, owner.uid};
    metadata["ownerReferences"] =
        Json::array({core::owner_reference(ref, mode == OwnerRef::controller)});
  }
  return manifest;
}

bool is_child_of(const core::ObjectMeta& meta, const std::string& controller,
                 const std::string& owner_uid) {
  const std::string* by = meta.label(kControllerLabel);
  const std::string* uid = meta.label(kOwnerUidLabel);
  if (by == nullptr || *by != controller) return false;
  return owner_uid.empty() ? uid == nullptr : uid != nullptr && *uid == owner_uid;
}

Belongs belongs_to(const core::ObjectMeta& existing, const std::string& controller,
                   const std::string& owner_uid) {
  const std::string* by = existing.label(kControllerLabel);
  const std::string* uid = existing.label(kOwnerUidLabel);
  if ((by != nullptr && *by != controller) || (uid != nullptr && *uid != owner_uid)) {
    return Belongs::other;
  }
  if (owner_uid.empty()) return by == nullptr ? Belongs::nobody : Belongs::us;
  return uid == nullptr ? Belongs::nobody : Belongs::us;
}

bool references_owner(const core::ObjectMeta& meta, const std::string& owner_uid) {
  for (const core::OwnerReference& owner : meta.owners) {
    if (owner.uid == owner_uid) return true;
  }
  return false;
}

bool blocks_owner(const core::ObjectMeta& meta, const std::string& owner_uid) {
  return std::any_of(meta.owners.begin(), meta.owners.end(), [&](const core::OwnerReference& one) {
    return one.uid == owner_uid && one.blocks_deletion;
  });
}

const core::OwnerReference* other_controller(const core::ObjectMeta& meta,
                                             const std::string& owner_uid) {
  const core::OwnerReference* controller = core::controller_of(meta);
  return controller != nullptr && controller->uid != owner_uid ? controller : nullptr;
}

bool is_of_earlier_life(const core::ObjectMeta& meta, const std::string& controller,
                        const Owner& owner) {
  const std::string* by = meta.label(kControllerLabel);
  const std::string* uid = meta.label(kOwnerUidLabel);
  const std::string* noted = meta.annotation(kOwnerAnnotation);
  return !owner.none() && by != nullptr && *by == controller && uid != nullptr &&
         *uid != owner.uid && noted != nullptr && *noted == owner.reference();
}

bool may_be_taken_over(const core::ObjectMeta& meta, const Owner& owner) {
  const std::string* uid = meta.label(kOwnerUidLabel);
  return (uid == nullptr || !references_owner(meta, *uid)) &&
         other_controller(meta, owner.uid) == nullptr;
}

bool dies_orphaning(const core::ObjectMeta& owner) {
  return owner.deleting() && owner.has_finalizer("orphan");
}

bool dies_in_foreground(const core::ObjectMeta& owner) {
  return owner.deleting() && owner.has_finalizer("foregroundDeletion");
}

WallTime deleted_at(const Json& object) {
  const auto gone = base::parse_rfc3339(base::string_at(object, {"metadata", "deletionTimestamp"}));
  if (!gone.ok()) return {};
  const auto grace = base::int_at(object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  return *gone - std::chrono::seconds(std::clamp<std::int64_t>(grace, 0, kLongestGrace));
}

bool prune_disabled(const core::ObjectMeta& meta) {
  const std::string* value = meta.annotation(kPruneAnnotation);
  return value != nullptr && *value == "disabled";
}

bool is_apply_of(const Json& entry, std::string_view manager, std::string_view subresource) {
  return base::string_at(entry, {"manager"}) == manager &&
         base::string_at(entry, {"operation"}) == "Apply" &&
         base::string_at(entry, {"subresource"}) == subresource;
}

bool applied_by(const Json& object, const std::string& manager) {
  const Json& entries = base::items_at(object, {"metadata", "managedFields"});
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Json& entry) { return is_apply_of(entry, manager); });
}

bool managed_by(const Json& object, const std::string& manager) {
  const Json& entries = base::items_at(object, {"metadata", "managedFields"});
  return std::any_of(entries.begin(), entries.end(), [&](const Json& entry) {
    return base::string_at(entry, {"manager"}) == manager;
  });
}

bool written_before(const Json& object, std::string_view manager, WallTime since) {
  for (const Json& entry : base::items_at(object, {"metadata", "managedFields"})) {
    if (base::string_at(entry, {"manager"}) != manager) continue;
    if (!base::string_at(entry, {"subresource"}).empty()) continue;
    const auto written = base::parse_rfc3339(base::string_at(entry, {"time"}));
    if (written.ok() && *written < since) return true;
  }
  return false;
}

std::string managers_text(const Json& object) {
  std::set<std::string> names;
  for (const Json& entry : base::items_at(object, {"metadata", "managedFields"})) {
    names.insert(base::string_at(entry, {"manager"}));
  }
  if (names.empty()) return "nobody known";
  return base::join({names.begin(), names.end()}, ", ");
}

std::string labels_text(const core::ObjectMeta& meta) {
  if (meta.labels.empty()) return "none";
  std::vector<std::string> parts;
  for (const auto& [key, value] : meta.labels) parts.push_back(key + "=" + value);
  return base::join(parts, ", ");
}

}  // namespace kubewatch::hooks
