// Objects of which the cache has metadata only, because they are too big or too deep: hooks are not
// run on half of them, and no expression of a rule is believed that finds nothing in the half.
// Pure.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "core/meta.hpp"
#include "hooks/rule.hpp"
#include "runtime/store.hpp"

namespace kubewatch::hooks {

// Whether what is to be done about it takes more than its metadata: false where no hook would run,
// or none sees the object.
bool needs_whole_object(const Rule& rule, const core::ObjectMeta& meta);

// Which objects of one kind are reduced, as their changes tell: a change does not say whether the
// object was before.
class ReducedKeys {
 public:
  void add(core::ObjectKey key) { keys_.insert(std::move(key)); }
  // Takes the change in; whether the object was reduced before it.
  bool note(const runtime::StoreChange& change);

 private:
  std::set<core::ObjectKey> keys_;
};

// A sentence that names `object`, why, and what can be done.
std::string why_reduced(const std::string& object);

}  // namespace kubewatch::hooks
