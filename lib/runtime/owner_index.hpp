// Whose change is it? Finds the objects of a controller that a child's owner references name: by
// uid, and by group, kind and name whatever version they were written in (a child made under
// v1beta1 still belongs to an owner that is served as v1). Pure.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/meta.hpp"
#include "core/resource.hpp"
#include "runtime/store.hpp"

namespace kubewatch::runtime {

// The owners that are there, by uid.
class OwnerIndex {
 public:
  void set(const std::string& uid, const core::ObjectKey& key) { keys_[uid] = key; }
  // Only while it stands for that key: a recreated name has another uid.
  void remove(const std::string& uid, const core::ObjectKey& key);
  const core::ObjectKey* find(const std::string& uid) const;
  std::size_t size() const { return keys_.size(); }

 private:
  std::unordered_map<std::string, core::ObjectKey> keys_;
};

enum class OwnerKind {
  controller,  // the one reference with controller: true
  any,         // every reference
};

struct OwnerMatch {
  core::Gvk owner;
  bool namespaced = true;  // the owner is
  OwnerKind references = OwnerKind::controller;
};

// The owners that a child's change concerns, in order and once each: those it names now and those
// it named before. A deletion also concerns an owner that was recreated under the name that the
// child still refers to: the name it waits for is free now.
std::vector<core::ObjectKey> owners_of(const StoreChange& change, const OwnerMatch& match,
                                       const OwnerIndex& index);

}  // namespace kubewatch::runtime
