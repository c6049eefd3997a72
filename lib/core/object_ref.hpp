// How objects point at each other: references as they stand in Events and other documents, and
// owner references. No I/O.
#pragma once

#include <compare>
#include <string>

#include "base/json_fwd.hpp"
#include "core/meta.hpp"

namespace kubewatch::core {

// The identifying part of a corev1 ObjectReference.
struct ObjectRef {
  std::string api_version;
  std::string kind;
  std::string namespace_;  // "" for cluster-scoped
  std::string name;
  std::string uid;          // "" when unknown
  std::string str() const;  // "Website shop/a"
  Json to_json() const;     // without what is empty
  auto operator<=>(const ObjectRef&) const = default;
};

ObjectRef object_ref(const ObjectMeta& meta);

// "apps/v1 Deployment shop/web": an object in reasons of runs and in messages.
std::string object_text(const Gvk& gvk, const ObjectKey& key);

// An entry of metadata.ownerReferences; `controller` marks the one owner that manages the object.
// It never blocks the owner's deletion, which would need more rights. The owner must be in the same
// namespace, or cluster-scoped.
Json owner_reference(const ObjectRef& owner, bool controller);
// The owner that manages the object; null when there is none.
const OwnerReference* controller_of(const ObjectMeta& meta);

}  // namespace kubewatch::core
