// Who a child belongs to: labels, annotation and owner reference that kubewatch puts on it, and how
// they are read back. Pure; the writes themselves are outcome's.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "core/meta.hpp"
#include "core/resource.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

inline constexpr std::string_view kControllerLabel = "kubewatch.dev/controller";
inline constexpr std::string_view kOwnerUidLabel = "kubewatch.dev/owner-uid";
inline constexpr std::string_view kOwnerAnnotation = "kubewatch.dev/owner";
inline constexpr std::string_view kPruneAnnotation = "kubewatch.dev/prune";
inline constexpr std::string_view kDomain = "kubewatch.dev/";

// The object that a run is about, as its children see it. Of a rule without `for` there is none:
// no uid and no name; its children carry the controller's label alone.
struct Owner {
  core::Gvk gvk;
  bool namespaced = true;
  core::ObjectKey key;
  std::string uid;
  bool deleting = false;
  bool none() const { return uid.empty() && key.name.empty(); }
  std::string str() const;        // "Website shop/a"; "<none>"
  std::string reference() const;  // "demo.kubewatch.dev/v1 Website shop/a", the annotation
};

// One child, whatever its version.
struct ChildId {
  std::string group;
  std::string kind;
  core::ObjectKey key;
  std::string str() const;  // "ConfigMap shop/a"
  auto operator<=>(const ChildId&) const = default;
};
ChildId child_id(const core::Gvk& gvk, const core::ObjectKey& key);

// Kubernetes allows an owner reference: same namespace, or a cluster-scoped owner; not to a dying
// object.
bool may_reference(const Owner& owner, OwnerRef mode, const std::string& child_namespace);
// The garbage collector will not remove this child, so kubewatch must: the owner needs our
// finalizer.
bool needs_finalizer(const Owner& owner, OwnerRef mode, const std::string& child_namespace);

// The manifest with our labels, annotation and (where allowed) owner reference.
Json with_ownership(Json manifest, const std::string& controller, const Owner& owner,
                    OwnerRef mode);

enum class Belongs { us, nobody, other };
// By the labels of an existing object.
bool is_child_of(const core::ObjectMeta& meta, const std::string& controller,
                 const std::string& owner_uid);
Belongs belongs_to(const core::ObjectMeta& existing, const std::string& controller,
                   const std::string& owner_uid);
bool references_owner(const core::ObjectMeta& meta, const std::string& owner_uid);
// Its reference to the owner blocks the owner's deletion: another controller set that.
bool blocks_owner(const core::ObjectMeta& meta, const std::string& owner_uid);
// The owner reference of another object that controls it; null when there is none.
const core::OwnerReference* other_controller(const core::ObjectMeta& meta,
                                             const std::string& owner_uid);
// A child by this controller of what had the owner's name before it: it was deleted with its
// children to stay, or a backup brought both back, and what is new has another uid.
bool is_of_earlier_life(const core::ObjectMeta& meta, const std::string& controller,
                        const Owner& owner);
// Such a child is nobody's. Not where it still refers to the earlier one, for which the garbage
// collector deletes it, nor where another object controls it.
bool may_be_taken_over(const core::ObjectMeta& meta, const Owner& owner);
// It was deleted with its children to stay (propagationPolicy: Orphan), and the garbage collector
// has not yet taken it out of their owner references.
bool dies_orphaning(const core::ObjectMeta& owner);
// It was deleted with its children (propagationPolicy: Foreground): what was said before by another
// deletion counts no more.
bool dies_in_foreground(const core::ObjectMeta& owner);
// When somebody asked for it: a deletionTimestamp is that and the grace period. The beginning of
// time where nobody did.
WallTime deleted_at(const Json& object);
bool prune_disabled(const core::ObjectMeta& meta);

// Of an entry of managedFields: `manager` applied that, to the object itself or to a subresource.
bool is_apply_of(const Json& entry, std::string_view manager, std::string_view subresource = "");
// managedFields holds such an entry for the object itself.
bool applied_by(const Json& object, const std::string& manager);
// Any entry of `manager`.
bool managed_by(const Json& object, const std::string& manager);
// An entry of `manager` for the object itself is older than `since`.
bool written_before(const Json& object, std::string_view manager, WallTime since);
// "kubectl-create, kubewatch/a", "nobody known" when there are none.
std::string managers_text(const Json& object);
// "a=b, c=d", "none".
std::string labels_text(const core::ObjectMeta& meta);

}  // namespace kubewatch::hooks
