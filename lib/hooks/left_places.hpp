// Where a changed rule looks for children no more: what it has made there stays, and nobody is told
// of it otherwise. Pure. Namespaces of the objects themselves are left_namespaces'.
#pragma once

#include <string>
#include <vector>

#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// "Secret", a kind that `now` has neither in `owns` nor in `writes`; "Secret in shop-b", where it
// has the kind and not the namespace; "Secret in other namespaces", where they may have been in
// any.
struct OwnerScoped {
  const Rule& rule;
  bool namespaced;  // of the kind of `for`; without one it is not
};
std::vector<std::string> places_left(const OwnerScoped& before, const OwnerScoped& now);

}  // namespace kubewatch::hooks
