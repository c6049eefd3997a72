// What a hook may print for its object: kinds listed in `owns` or `writes`, in its object's
// namespace or one listed. Pure.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/result.hpp"
#include "core/resource.hpp"
#include "hooks/ownership.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// What the namespaceSelector of an `owns` stream means now.
using SelectedNamespaces = std::function<std::set<std::string>(const StreamRule&)>;

bool is_declared(const Rule& rule, const core::Gvk& gvk);
// `namespace_` "" for cluster-scoped kinds. Errors: invalid, saying what to declare.
Result<void> check_rights(const Rule& rule, const Owner& owner, const core::Gvk& gvk,
                          const std::string& namespace_, const SelectedNamespaces& selected = {});

// A run of this rule may print children that Kubernetes would not remove by itself, so that its
// objects may come to carry our finalizer. `namespaced` tells of a declared kind whether it is;
// absent: unknown.
bool may_need_finalizer(const Rule& rule, bool owner_namespaced,
                        const std::function<std::optional<bool>(const core::Gvk&)>& namespaced);

}  // namespace kubewatch::hooks
